"""Names of texts and of functions."""
from .._ffi_names import Object


class SourceName(str):
    """The name of a text. It is a str, as in Span.source_name."""

    @property
    def name(self):
        """The name."""
        return str(self)


class EnvFunc(Object):
    """A function of register_func by its name."""

    _everything = False

    def __init__(self, name, func):
        self.name, self.func = name, func

    def __call__(self, *args):
        return self.func(*args)

    @staticmethod
    def get(name):
        """The function of that name; ValueError when there is none."""
        from ..registry import get_global_func

        return EnvFunc(name, get_global_func(name))
