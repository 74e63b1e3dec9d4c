"""Algebraic data types: definitions, `match`, and the patterns in it."""
from .._load import core, not_provided
from ..ir.adt import Constructor, TypeData
from ..ir.type import Type
from .expr import Call, ExprWithOp, RelayExpr

Clause = core.Clause
Match = core.Match


class _PatternMeta(type):
    """These classes construct Patterns, which are all of one class: isinstance() checks their kind."""

    def __instancecheck__(cls, value):
        return isinstance(value, core.Pattern) and (cls is Pattern or value._kind == cls.__name__)


class Pattern(metaclass=_PatternMeta):
    """A pattern of a match."""

    def __new__(cls, *args):
        raise TypeError("make a PatternWildcard, PatternVar, PatternConstructor or PatternTuple")


class PatternWildcard(Pattern):
    """Matches every value: `_`."""

    def __new__(cls):
        return core.wildcard_pattern()


class PatternVar(Pattern):
    """Matches every value and binds it to the Var `var`."""

    def __new__(cls, var):
        return core.var_pattern(var)


class PatternConstructor(Pattern):
    """Matches values of `constructor` whose fields match `patterns`, one for each."""

    def __new__(cls, constructor, patterns=None):
        return core.constructor_pattern(constructor, patterns)


class PatternTuple(Pattern):
    """Matches tuples whose fields match `patterns`, one for each."""

    def __new__(cls, patterns=None):
        return core.tuple_pattern(patterns)


def __getattr__(name):
    not_provided(__name__, name)


__all__ = ["Call", "Clause", "Constructor", "ExprWithOp", "Match", "Pattern", "PatternConstructor", "PatternTuple",
           "PatternVar", "PatternWildcard", "RelayExpr", "Type", "TypeData"]
