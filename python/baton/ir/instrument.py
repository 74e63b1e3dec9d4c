"""Observers of passes."""
import functools

from .._load import core

PassTimingInstrument = core.PassTimingInstrument


class PassInstrument:
    """Base of instruments: override any of enter_pass_ctx(self), exit_pass_ctx(self), should_run(self, mod, info) -> bool,
    run_before_pass(self, mod, info) and run_after_pass(self, mod, info). What they raise arrives where the pass, or the
    `with` of the context, was started."""


def pass_instrument(pi_cls=None):
    """Class decorator: makes instances of the class instruments."""

    def decorate(cls):
        if issubclass(cls, PassInstrument):
            return cls
        made = type(cls.__name__, (cls, PassInstrument), {"__doc__": cls.__doc__, "__module__": cls.__module__})
        return functools.update_wrapper(made, cls, updated=())

    return decorate if pi_cls is None else decorate(pi_cls)
