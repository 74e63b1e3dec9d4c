"""Structural equality and positions."""
from .._ffi_names import Node, Object
from .._load import core

Attrs = core.Attrs
Span = core.Span
load_json = core.load_json
save_json = core.save_json
structural_equal = core.structural_equal
structural_hash = core.structural_hash


def assert_structural_equal(lhs, rhs, map_free_vars=False):
    """Raises ValueError, which shows both as text, unless they are structurally equal."""
    if not structural_equal(lhs, rhs, map_free_vars):
        raise ValueError(f"not structurally equal:\n{lhs}\nand\n{rhs}")


class SourceName(str):
    """The name of a text. It is a str, as in Span.source_name."""

    @property
    def name(self):
        """The name."""
        return str(self)


class EnvFunc(Object):
    """A function of register_func by its name."""

    def __init__(self, name, func):
        self.name, self.func = name, func

    def __call__(self, *args):
        return self.func(*args)

    @staticmethod
    def get(name):
        """The function of that name; ValueError when there is none."""
        from ..registry import get_global_func

        return EnvFunc(name, get_global_func(name))


__all__ = ["Attrs", "EnvFunc", "Node", "Object", "SourceName", "Span", "assert_structural_equal", "load_json", "save_json",
           "structural_equal", "structural_hash"]
