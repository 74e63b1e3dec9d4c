"""Modules."""
from .._load import core

IRModule = core.IRModule


def _show(self):
    """Prints the module."""
    print(self)


IRModule.show = _show
