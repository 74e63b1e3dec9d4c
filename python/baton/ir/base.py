"""Structural equality and positions."""
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
