"""Relay text to programs."""
from ._load import core

from .ir import IRModule


def parse(source, source_name="from_string", init_module=None, init_meta_table=None):
    """The module in `source`, types inferred.

    Raises DiagnosticError with every mistake in it. `init_module` and `init_meta_table` are not provided yet.
    """
    if init_module is not None or init_meta_table:
        raise NotImplementedError("parse: init_module and init_meta_table are not provided yet")
    return core.parse(source, source_name)


def fromtext(source, source_name="from_string"):
    """The same as parse()."""
    return parse(source, source_name)


def parse_expr(source):
    """The expression in `source`; types are not inferred. Raises DiagnosticError."""
    return core.parse_expr(source)


__all__ = ["IRModule", "fromtext", "parse", "parse_expr"]
