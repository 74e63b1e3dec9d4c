"""Expressions common to all of Baton."""
from .._ffi_names import Node
from .._load import core
from .._numbers import FloatImm, IntImm

RelayExpr = core.RelayExpr
GlobalVar = core.GlobalVar


class _BaseExprMeta(type(Node)):
    def __instancecheck__(cls, value):
        return type.__instancecheck__(cls, value) or (cls.__name__ == "BaseExpr" and isinstance(value, RelayExpr))


class BaseExpr(Node, metaclass=_BaseExprMeta):
    """Base of expressions: every RelayExpr is an instance."""

    _everything = False


class _PrimExprMeta(type(BaseExpr)):
    def __instancecheck__(cls, value):
        return type.__instancecheck__(cls, value) or isinstance(value, (IntImm, FloatImm, core.SymbolicExtent))


class PrimExpr(BaseExpr, metaclass=_PrimExprMeta):
    """Base of numbers and extents: tir.IntImm, tir.FloatImm, and what te.var makes, are instances."""


class Range(Node):
    """The half-open range from `begin` to `end`; with one argument from 0. Also as `min` and `extent`."""

    _everything = False

    def __init__(self, begin, end=None, span=None):
        self.min, self.extent, self.span = (0, begin, span) if end is None else (begin, end - begin, span)

    @staticmethod
    def from_min_extent(min_value, extent, span=None):
        """`extent` numbers from `min_value`."""
        return Range(min_value, min_value + extent, span)

    def __eq__(self, other):
        return isinstance(other, Range) and (self.min, self.extent) == (other.min, other.extent)

    def __hash__(self):
        return hash((self.min, self.extent))

    def __repr__(self):
        return f"range(min={self.min}, ext={self.extent})"


def _same_name(self, other):
    """Whether both are the global variable of one name: modules make their own objects of them."""
    return isinstance(other, GlobalVar) and self.name_hint == other.name_hint


GlobalVar.__eq__ = GlobalVar.same_as = _same_name
GlobalVar.__ne__ = lambda self, other: not _same_name(self, other)
GlobalVar.__hash__ = lambda self: hash(self.name_hint)
