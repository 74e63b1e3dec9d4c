"""Sequences and mappings as TVM names them. What Baton returns are lists, tuples and dicts: isinstance() says so of these."""


def _refuse(self, *args, **kwargs):
    """What would change it: TypeError."""
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
