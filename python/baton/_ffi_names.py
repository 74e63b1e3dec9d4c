"""Names of TVM's object system. Baton's objects are C++ classes of their own: isinstance() sees them through here."""
from ._load import core

_OURS = tuple(each for each in vars(core).values() if isinstance(each, type))


class _ObjectMeta(type):
    def __instancecheck__(cls, value):
        return type.__instancecheck__(cls, value) or (cls.__dict__.get("_everything", False) and isinstance(value, _OURS))


class Object(metaclass=_ObjectMeta):
    """Base of TVM's objects: everything that Baton makes is an instance."""

    _everything = True

    def same_as(self, other):
        """Whether they are one object."""
        return self is other


class Node(Object):
    """Base of what has text: everything that Baton makes is an instance."""

    _everything = True


def register_object(type_key=None):
    """Class decorator: keeps the class as it is. C++ objects of TVM's own registry cannot appear in Baton."""
    return type_key if isinstance(type_key, type) else lambda cls: cls


def register_extension(cls, fcreate=None):
    """Keeps the class as it is: any Python object may be passed to functions of register_func."""
    return cls


class DataTypeCode:
    """The kinds of numbers, as in DLPack."""

    INT, UINT, FLOAT, HANDLE, BFLOAT = range(5)


class DataType:
    """A data type from its name: type_code (DataTypeCode), bits, lanes."""

    def __init__(self, type_str):
        import re

        found = re.fullmatch(r"(bool|int|uint|float|bfloat|handle)(\d*)(?:x(\d+))?", type_str)
        if not found:
            raise ValueError(f"unknown data type {type_str!r}")
        name, bits, lanes = found.groups()
        kinds = {"int": DataTypeCode.INT, "uint": DataTypeCode.UINT, "bool": DataTypeCode.UINT, "float": DataTypeCode.FLOAT,
                 "handle": DataTypeCode.HANDLE, "bfloat": DataTypeCode.BFLOAT}
        self._text = type_str
        self.type_code, self.lanes = kinds[name], int(lanes or 1)
        self.bits = 1 if name == "bool" else int(bits or (64 if name == "handle" else 32))

    def __str__(self):
        return self._text

    __repr__ = __str__

    def __eq__(self, other):
        if isinstance(other, str):
            other = DataType(other)
        return isinstance(other, DataType) and (self.type_code, self.bits, self.lanes) == (other.type_code, other.bits, other.lanes)

    def __hash__(self):
        return hash((self.type_code, self.bits, self.lanes))
