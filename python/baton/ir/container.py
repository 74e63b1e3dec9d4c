"""TVM's names of sequences and mappings. Baton returns lists, tuples and dicts; isinstance() accepts them as these."""


def _refuse(self, *args, **kwargs):
    """Mutating methods raise TypeError."""
    raise TypeError(f"{type(self).__name__} cannot be changed")


class _ArrayMeta(type):
    def __instancecheck__(cls, value):
        return isinstance(value, (list, tuple))


class Array(list, metaclass=_ArrayMeta):
    """An immutable list."""

    type_key = "Array"
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse

    def __eq__(self, other):
        return list(self) == list(other) if isinstance(other, (list, tuple)) else NotImplemented

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(tuple(self))

    def __reduce__(self):
        return Array, (list(self),)


class _MapMeta(type):
    def __instancecheck__(cls, value):
        return isinstance(value, dict)


class Map(dict, metaclass=_MapMeta):
    """An immutable dict."""

    type_key = "Map"
    pop = popitem = clear = update = setdefault = __setitem__ = __delitem__ = __ior__ = _refuse

    def __reduce__(self):
        return Map, (dict(self),)
