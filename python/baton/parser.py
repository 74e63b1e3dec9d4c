"""Relay text to programs."""
from ._load import core

from .ir import IRModule


def parse(source, source_name="from_string", init_module=None, init_meta_table=None):
    """The module in `source`, types inferred.

    Parameters
    ----------
    init_module : IRModule, optional
        Its functions and data types are visible to `source` and included in the result; it is not modified.
    init_meta_table : dict of str to list, optional
        What `meta[KEY][i]` in `source` means: expressions, Attrs, or values of attributes by type key
        ("relay.Constant", ...). They count behind the objects in the metadata section of `source`.

    Raises
    ------
    DiagnosticError
        With all errors in `source`.
    TypeError
        For an object in `init_meta_table` that programs cannot contain.
    """
    return core.parse(source, source_name, init_module, init_meta_table)


def fromtext(source, source_name="from_string"):
    """The same as parse()."""
    return parse(source, source_name)


def parse_expr(source):
    """The expression in `source`; types are not inferred. Raises DiagnosticError."""
    return core.parse_expr(source)


class SourceMap:
    """Source texts by name, as in TVM's modules. Baton's spans reference their source directly."""

    def __init__(self, source_map=None):
        self.source_map = dict(source_map or {})

    def add(self, name, content):
        """Adds a text."""
        from .ir import SourceName

        self.source_map[SourceName(name)] = content
        return SourceName(name)


def SpanCheck():  # noqa: N802
    """A pass that checks spans: returns the module unchanged, and raises TVMError for a call without a span."""
    from .ir.transform import module_pass

    def check(mod, _):
        missing = core.calls_without_span(mod)
        if missing:
            raise core.TVMError(f"SpanCheck: {len(missing)} calls have no position, the first is\n{missing[0]}")
        return mod

    return module_pass(check, opt_level=0, name="SpanCheck")


__all__ = ["IRModule", "SourceMap", "SpanCheck", "fromtext", "parse", "parse_expr"]
