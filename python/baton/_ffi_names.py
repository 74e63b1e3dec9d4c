"""Names of TVM's object system. Baton's objects are C++ classes; these classes make isinstance() work on them."""
from ._load import core

_OURS = tuple(each for each in vars(core).values() if isinstance(each, type))


class _ObjectMeta(type):
    def __instancecheck__(cls, value):
        return type.__instancecheck__(cls, value) or (cls.__dict__.get("_everything", False) and isinstance(value, _OURS))


class Object(metaclass=_ObjectMeta):
    """Base of TVM's objects: all objects of Baton are instances."""

    _everything = True

    def same_as(self, other):
        """Whether they are one object."""
        return self is other


class Node(Object):
    """Base of printable objects: all objects of Baton are instances."""

    _everything = True


def register_object(type_key=None):
    """Class decorator; returns the class unchanged. C++ objects of TVM's own registry cannot appear in Baton."""
    return type_key if isinstance(type_key, type) else lambda cls: cls


def register_extension(cls, fcreate=None):
    """Returns the class unchanged: any Python object may be passed to functions of register_func."""
    return cls
