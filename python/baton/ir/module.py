"""Modules."""
from .._load import core
from .._wanted import wanted
from .function import DictAttrs

IRModule = core.IRModule


def _show(self):
    """Prints the module."""
    print(self)


IRModule.show = _show


def _import_from_std(self, file):
    """Adds a part of the standard library: "prelude.rly", "nat.rly", "gradient.rly" or "core.rly" (".rly" may be left out)."""
    wanted("file", file, str, "a str")
    core.import_std(self, file if file.endswith(".rly") else file + ".rly")


IRModule.import_from_std = _import_from_std


def _attrs(self):
    """A DictAttrs; None where with_attr() has given none."""
    return self.__dict__.get("_attrs")


def _get_attr(self, attr_key):
    """An attribute of the module, or None."""
    return (self.attrs or {}).get(wanted("attr_key", attr_key, str, "a str"))


def _with_attr(self, attr_key, attr_value):
    """A copy of the module with one attribute set. Passes keep attributes; text and JSON leave them out."""
    copy = self.copy()
    copy.__dict__["_attrs"] = DictAttrs({**(self.attrs or {}), wanted("attr_key", attr_key, str, "a str"): attr_value})
    return copy


def _run_pass(self, mod):
    """Runs it, whatever the context's opt_level; attributes of the module stay. Raises DiagnosticError, TVMError, or what Python code
    in it raises."""
    made = _call_pass(self, mod)
    kept = getattr(mod, "__dict__", {}).get("_attrs")
    if kept is not None and made.attrs is None:
        made.__dict__["_attrs"] = kept
    return made


_call_pass, core.Pass.__call__ = core.Pass.__call__, _run_pass
IRModule.attrs = property(_attrs, doc=_attrs.__doc__)


def _script(self, tir_prefix="T", show_meta=False):
    """Not provided: there is no TVMScript; astext() gives Relay text."""
    raise NotImplementedError("IRModule.script: Baton writes no TVMScript; IRModule.astext() gives Relay text")


IRModule.get_attr, IRModule.with_attr, IRModule.script = _get_attr, _with_attr, _script
