"""Paths from an object to one of its parts: `<root>.body.args[0]`."""


class ObjectPath:
    """A path: ObjectPath.root(), then .attr(name), .array_index(i), .map_value(key), each a longer one."""

    def __init__(self, parent=None, step="", name=None):
        self._parent, self._step, self._text = parent, step, ("<root>" if name is None else name) if parent is None else step

    @staticmethod
    def root(root_name=None):
        """The object itself."""
        return ObjectPath(None, "", root_name)

    @property
    def parent(self):
        """The path without its last step; None of a root."""
        return self._parent

    def __len__(self):
        return 1 if self._parent is None else len(self._parent) + 1

    def get_prefix(self, length):
        """The first `length` steps, the root included. IndexError for numbers that are none."""
        if not 1 <= length <= len(self):
            raise IndexError(f"get_prefix: the path has {len(self)} steps, {length} are asked for")
        found = self
        while len(found) > length:
            found = found.parent
        return found

    def is_prefix_of(self, other):
        """Whether `other` begins with this path."""
        return len(self) <= len(other) and other.get_prefix(len(self)) == self

    def attr(self, attr_key):
        """The field of that name; None: a field that the other object does not have."""
        return ObjectPath(self, f".{attr_key}" if attr_key is not None else ".<unknown attribute>")

    def array_index(self, index):
        """An element."""
        return ObjectPath(self, f"[{int(index)}]")

    def missing_array_element(self, index):
        """An element that only the other array has."""
        return ObjectPath(self, f"[<missing element #{int(index)}>]")

    def map_value(self, key):
        """The value of a key."""
        return ObjectPath(self, f"[{key!r}]" if isinstance(key, str) else f"[{key}]")

    def missing_map_entry(self):
        """An entry that only the other map has."""
        return ObjectPath(self, "[<missing entry>]")

    def __eq__(self, other):
        return isinstance(other, ObjectPath) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    def __str__(self):
        return self._text if self._parent is None else str(self._parent) + self._step

    __repr__ = __str__


class ObjectPathPair:
    """Two paths: the part of the left object that differs from that of the right one."""

    def __init__(self, lhs_path, rhs_path):
        self.lhs_path, self.rhs_path = lhs_path, rhs_path
