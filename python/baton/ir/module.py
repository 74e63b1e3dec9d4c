"""Modules."""
from .._load import core
from .._wanted import wanted

IRModule = core.IRModule


def _show(self):
    """Prints the module."""
    print(self)


IRModule.show = _show


def _import_from_std(self, file):
    """Adds a part of the standard library: "prelude.rly", "nat.rly" or "gradient.rly" (".rly" may be left out)."""
    wanted("file", file, str, "a str")
    core.import_std(self, file if file.endswith(".rly") else file + ".rly")


IRModule.import_from_std = _import_from_std


def _get_attr(self, attr_key):
    """An attribute of the module: None, as Baton's have none."""
    wanted("attr_key", attr_key, str, "a str")


def _with_attr(self, attr_key, attr_value):
    """Not provided: modules of Baton have no attributes, functions have."""
    raise NotImplementedError("IRModule.with_attr: modules of Baton have no attributes; functions have, Function.with_attr")


def _script(self, tir_prefix="T", show_meta=False):
    """Not provided: there is no TVMScript; astext() gives Relay text."""
    raise NotImplementedError("IRModule.script: Baton writes no TVMScript; IRModule.astext() gives Relay text")


IRModule.get_attr, IRModule.with_attr, IRModule.script = _get_attr, _with_attr, _script
