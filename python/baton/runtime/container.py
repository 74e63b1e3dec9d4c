"""Argument and result values other than arrays. Each is a subclass of the corresponding Python type."""
from .._ffi_names import Object
from .._load import core
from .._wanted import listed
from ..ir.container import Array, Map
from .._numbers import FloatImm, IntImm, const


class ObjectGeneric:
    """Base of Python classes that are convertible to an object by asobject()."""

    def asobject(self):
        """The object; implemented by the derived class."""
        raise NotImplementedError(f"{type(self).__name__} does not say what asobject() is")


class String(str):
    """A text."""

    __slots__ = ()


class ShapeTuple(tuple):
    """Extents. Compares with any sequence of the same numbers."""

    def __new__(cls, shape):
        return super().__new__(cls, (_extent(each) for each in listed("shape", shape)))

    def __eq__(self, other):
        try:
            return tuple(self) == tuple(other)
        except TypeError:
            return False

    def __ne__(self, other):
        return not self == other

    __hash__ = tuple.__hash__


def _extent(value):
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"an int is expected, not {type(value).__name__}")
    return int(value)


class ADT(list):
    """A tuple (tag 0) or other group of values at run time: `adt[i]`, `len(adt)`, `adt.tag`."""

    def __init__(self, tag, fields):
        super().__init__(listed("fields", fields))
        self.tag = _extent(tag)


def tuple_object(fields=None):
    """The tuple of `fields`, which may be nested lists: an ADT of tag 0."""
    return ADT(0, [convert_to_object(each) for each in fields or []])


def convert_to_object(value, span=None):
    """`value` as a TVM object: numbers as IntImm and FloatImm, strings as String, lists and dicts of these as ir.Array and ir.Map."""
    from .packed_func import PackedFunc

    if isinstance(value, (IntImm, FloatImm, String, ShapeTuple, PackedFunc, ADT)) or value is None:
        return value
    if isinstance(value, (bool, int, float)):
        return const(value, span=span)
    if hasattr(value, "item") and getattr(value, "shape", None) == () and not isinstance(value, core.NDArray):
        return const(value.item(), str(value.dtype), span)
    if isinstance(value, str):
        return String(value)
    if isinstance(value, (list, tuple)):
        return Array(convert_to_object(each, span) for each in value)
    if isinstance(value, dict):
        if any(not isinstance(key, str) and not hasattr(key, "same_as") for key in value):
            raise ValueError("key of map must already been a container type")
        return Map({key: convert_to_object(each, span) for key, each in value.items()})
    if isinstance(value, ObjectGeneric):
        return value.asobject()
    if callable(value) and not isinstance(value, type) and type(value).__module__ in ("builtins", "functools"):
        return PackedFunc(value)
    if isinstance(value, Object) or type(value).__module__.startswith(("_baton", __name__.split(".", maxsplit=1)[0])):
        return value
    raise ValueError(f"don't know how to convert type {type(value)} to object")


def convert(value, span=None):
    """convert_to_object(), and functions too."""
    return convert_to_object(value, span)


ObjectTypes = (Object, core.NDArray)
