"""Mistakes in programs, and who shows them."""
from .._load import core

Diagnostic = core.Diagnostic
_render_func = None


class DiagnosticLevel:
    """The values of Diagnostic.level."""

    BUG, ERROR, WARNING, NOTE, HELP = 10, 20, 30, 40, 50


class DiagnosticContext:
    """What a renderer is called with: `diagnostics`, a list with level, span, message, hint and code."""

    def __init__(self, diagnostics):
        self.diagnostics = diagnostics


def override_renderer(render_func):
    """Calls `render_func(context)` before each DiagnosticError is raised; None ends that."""
    global _render_func
    _render_func = render_func
    core.set_renderer(None if render_func is None else lambda found: render_func(DiagnosticContext(found)))


def get_renderer():
    """The function that override_renderer has set, or None."""
    return _render_func
