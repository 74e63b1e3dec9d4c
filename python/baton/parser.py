"""Relay text to programs."""
from ._load import core

from .ir import IRModule


def parse(source, source_name="from_string", init_module=None, init_meta_table=None):
    """The module in `source`, types inferred.

    Parameters
    ----------
    init_module : IRModule, optional
        Its functions and data types are known in `source`, and are in the result; it stays as it is itself.
    init_meta_table : dict of str to list, optional
        What `meta[KEY][i]` in `source` means: expressions, Attrs, or values of attributes by type key
        ("relay.Constant", ...). They count behind the objects in the metadata section of `source`.

    Raises
    ------
    DiagnosticError
        With every mistake in `source`.
    TypeError
        For an object in `init_meta_table` that programs cannot hold.
    """
    return core.parse(source, source_name, init_module, init_meta_table)


def fromtext(source, source_name="from_string"):
    """The same as parse()."""
    return parse(source, source_name)


def parse_expr(source):
    """The expression in `source`; types are not inferred. Raises DiagnosticError."""
    return core.parse_expr(source)


__all__ = ["IRModule", "fromtext", "parse", "parse_expr"]
