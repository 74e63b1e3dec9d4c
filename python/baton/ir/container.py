"""Containers: lists and dicts of Python are what Baton takes and gives."""
import collections.abc


class Array(collections.abc.Sequence):
    """A name for lists and tuples: isinstance([], Array) holds. Array([...]) makes a list."""

    def __new__(cls, values=()):
        return list(values)

    def __getitem__(self, index):
        raise NotImplementedError("Array is a name for list")

    def __len__(self):
        raise NotImplementedError("Array is a name for list")


class Map(collections.abc.Mapping):
    """A name for dicts: isinstance({}, Map) holds. Map({...}) makes a dict."""

    def __new__(cls, values=()):
        return dict(values)

    def __getitem__(self, key):
        raise NotImplementedError("Map is a name for dict")

    def __iter__(self):
        raise NotImplementedError("Map is a name for dict")

    def __len__(self):
        raise NotImplementedError("Map is a name for dict")


Array.register(list)
Array.register(tuple)
Map.register(dict)
