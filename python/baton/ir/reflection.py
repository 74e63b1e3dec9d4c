"""What TVM's objects show of themselves in Python, of Baton's classes: `handle`, and the names of attributes in dir()."""
import ctypes

from .._load import core
from .names import SourceName


def _handle(self):
    """A handle of the object: `handle.value` is one number for one object, as long as it is alive."""
    return ctypes.c_void_p(id(self))


for _each in (core.RelayExpr, core.Type, core.TypeData, core.Attrs, core.IRModule, core.Clause, core.Pattern, core.SymbolicExtent):
    _each.handle = property(_handle)

core.RelayExpr.virtual_device_ = property(lambda self: core.VirtualDevice(), doc="Unconstrained: places are in on_device and in attributes.")
core.RelayExpr.checked_type_ = property(lambda self: getattr(self, "_checked_type_", None), doc="The inferred type, or None.")
core.Span.same_as = lambda self, other: self is other
core.Attrs.__dir__ = lambda self: sorted({*object.__dir__(self), *self.keys()})


def _get_int(self, key):
    return int(self[key])


core.Attrs.get_int = _get_int

_source_of = vars(core.Span)["source_name"].fget
core.Span.source_name = property(lambda self: SourceName(_source_of(self)), doc="The SourceName of the text.")
