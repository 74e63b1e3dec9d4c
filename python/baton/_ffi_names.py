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
