"""Diagnostics of programs, and their renderers."""
from .._ffi_names import Object
from .._load import core
from ..registry import get_global_func, register_func

Diagnostic = core.Diagnostic
_render_func = None


class DiagnosticLevel:
    """The values of Diagnostic.level."""

    BUG, ERROR, WARNING, NOTE, HELP = 10, 20, 30, 40, 50


class DiagnosticRenderer:
    """A renderer of diagnostics: render_func(context)."""

    def __init__(self, render_func):
        self.render_func = render_func

    def render(self, ctx):
        """Renders the diagnostics of a DiagnosticContext."""
        self.render_func(ctx)


class DiagnosticContext:
    """The argument of a renderer: `diagnostics`, a list with level, span, message, hint and code.

    One's own is made of a module and a DiagnosticRenderer (None: the one that override_renderer has set), and is given
    diagnostics by emit().
    """

    def __init__(self, module=None, renderer=None):
        given = isinstance(module, (list, tuple))
        self.diagnostics = list(module) if given else []
        self.module, self.renderer = None if given else module, renderer

    def emit(self, diagnostic):
        """Adds a diagnostic."""
        self.diagnostics.append(diagnostic)

    def render(self):
        """Renders all; raises DiagnosticError when one of them is an error."""
        if self.renderer is not None:
            self.renderer.render(self)
        elif _render_func is not None:
            _render_func(self)
        errors = [each for each in self.diagnostics if getattr(each, "level", 0) == DiagnosticLevel.ERROR]
        if errors:
            raise core.DiagnosticError("\n".join(each.message for each in errors))


def override_renderer(render_func):
    """Calls `render_func(context)` before each DiagnosticError is raised; None ends that."""
    global _render_func
    _render_func = render_func
    core.set_renderer(None if render_func is None else lambda found: render_func(DiagnosticContext(found)))


def get_renderer():
    """The function that override_renderer has set, or None."""
    return _render_func
