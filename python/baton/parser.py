"""Relay text to programs."""
from ._load import core

from .ir import IRModule


def parse(source, source_name="from_string", init_module=None, init_meta_table=None):
    """The module in `source`, types inferred.

    Functions and data types of `init_module` are known in the text, and are in the result. Raises DiagnosticError with every
    mistake in it. `init_meta_table` is not provided yet.
    """
    if init_meta_table:
        raise NotImplementedError("parse: init_meta_table is not provided yet")
    return core.parse(source, source_name, init_module)


def fromtext(source, source_name="from_string"):
    """The same as parse()."""
    return parse(source, source_name)


def parse_expr(source):
    """The expression in `source`; types are not inferred. Raises DiagnosticError."""
    return core.parse_expr(source)


__all__ = ["IRModule", "fromtext", "parse", "parse_expr"]
