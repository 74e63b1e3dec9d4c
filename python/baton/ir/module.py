"""Modules."""
from .._load import core

IRModule = core.IRModule


def _show(self):
    """Prints the module."""
    print(self)


IRModule.show = _show


def _import_from_std(self, file):
    """Adds a part of the standard library: "prelude.rly", "nat.rly" or "gradient.rly" (".rly" may be left out)."""
    core.import_std(self, file if file.endswith(".rly") else file + ".rly")


IRModule.import_from_std = _import_from_std
