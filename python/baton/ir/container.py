"""Sequences and mappings as TVM names them. The parts of nodes are Arrays; isinstance() takes every list, tuple or dict."""
from .._load import core


def _refuse(self, *args, **kwargs):
    raise TypeError(f"{type(self).__name__} cannot be changed")


class _ArrayMeta(type):
    def __instancecheck__(cls, value):
        return isinstance(value, (list, tuple))


class Array(list, metaclass=_ArrayMeta):
    """A list that cannot be changed."""

    append = extend = insert = pop = remove = clear = sort = reverse = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse

    def __hash__(self):
        return hash(tuple(self))

    def __reduce__(self):
        return Array, (list(self),)


class _MapMeta(type):
    def __instancecheck__(cls, value):
        return isinstance(value, dict)


class Map(dict, metaclass=_MapMeta):
    """A dict that cannot be changed."""

    pop = popitem = clear = update = setdefault = __setitem__ = __delitem__ = __ior__ = _refuse

    def __reduce__(self):
        return Map, (dict(self),)


def _parts(kind, *names):
    """Makes these properties of a class of nodes give Arrays: a change to one would not change the node."""
    for name in names:
        given = getattr(kind, name)
        setattr(kind, name, property(lambda node, get=given.__get__: Array(get(node)), doc=given.__doc__))


_parts(core.Call, "args", "type_args")
_parts(core.Tuple, "fields")
_parts(core.Function, "params", "type_params")
_parts(core.Match, "clauses")
_parts(core.Pattern, "patterns")
_parts(core.Constructor, "inputs")
_parts(core.TypeData, "type_vars", "constructors")
_parts(core.TupleType, "fields")
_parts(core.FuncType, "arg_types", "type_params", "type_constraints")
_parts(core.TypeCall, "args")
