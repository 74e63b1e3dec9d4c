"""Observers of passes."""
import functools
import inspect

from .._load import core

PassTimingInstrument = core.PassTimingInstrument
PassTrace = core.PassTrace
OriginVerifier = core.OriginVerifier


class PassInstrument:
    """Base of instruments: override any of these. Their exceptions propagate to where the pass, or the `with` of the
    context, was started."""

    def enter_pass_ctx(self):
        """Called when a PassContext that has this is entered."""

    def exit_pass_ctx(self):
        """Called when it is left."""

    def should_run(self, mod, info):
        """Whether a pass (`info`: its PassInfo) is to run over `mod`; required ones run anyway."""
        return True

    def run_before_pass(self, mod, info):
        """Called before a pass, with the module it gets."""

    def run_after_pass(self, mod, info):
        """Called after a pass, with the module it made."""


def pass_instrument(pi_cls=None):
    """Class decorator: makes instances of the class instruments. TypeError for other objects."""

    def decorate(cls):
        if not inspect.isclass(cls):
            raise TypeError("pi_cls must be a class")
        if issubclass(cls, PassInstrument):
            return cls
        made = type(cls.__name__, (cls, PassInstrument), {"__doc__": cls.__doc__, "__module__": cls.__module__})
        return functools.update_wrapper(made, cls, updated=())

    return decorate if pi_cls is None else decorate(pi_cls)


class PrintBeforeAll(PassInstrument):
    """Prints the module before every pass (as later TVM has it); arguments go to IRModule.astext."""

    def __init__(self, *args, **kwargs):
        self._args, self._kwargs = args, kwargs

    def run_before_pass(self, mod, info):
        """Prints `mod`."""
        print(f"Before Running Pass: {info}\n{mod.astext(*self._args, **self._kwargs)}")


class PrintAfterAll(PassInstrument):
    """Prints the module after every pass (as later TVM has it); arguments go to IRModule.astext."""

    def __init__(self, *args, **kwargs):
        self._args, self._kwargs = args, kwargs

    def run_after_pass(self, mod, info):
        """Prints `mod`."""
        print(f"After Running Pass: {info}\n{mod.astext(*self._args, **self._kwargs)}")


class PassPrintingInstrument(PassInstrument):
    """Prints the module before and after the passes of these names (as later TVM has it)."""

    def __init__(self, print_before_pass_names=(), print_after_pass_names=()):
        self.print_before_pass_names = set(print_before_pass_names)
        self.print_after_pass_names = set(print_after_pass_names)

    def run_before_pass(self, mod, info):
        """Prints `mod` when the pass is one of them."""
        if info.name in self.print_before_pass_names:
            print(f"Print IR before: {info.name}\n{mod}\n\n")

    def run_after_pass(self, mod, info):
        """Prints `mod` when the pass is one of them."""
        if info.name in self.print_after_pass_names:
            print(f"Print IR after: {info.name}\n{mod}\n\n")
