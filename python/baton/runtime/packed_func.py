"""Functions of a module, or under a global name."""


class PackedFunc:
    """A function that is called by position. Exceptions of Python functions arrive as they were raised."""

    def __init__(self, function, is_global=False, name=""):
        if isinstance(function, PackedFunc):
            function = function.function
        if not callable(function):
            raise TypeError(f"a function is expected, not {type(function).__name__}")
        self.function, self.is_global, self.name = function, is_global, name or getattr(function, "__name__", "")

    def __call__(self, *args):
        return self.function(*args)

    def __eq__(self, other):
        return self.function == (other.function if isinstance(other, PackedFunc) else other)

    def __hash__(self):
        return hash(self.function)

    def __repr__(self):
        return f"<PackedFunc {self.name}>"
