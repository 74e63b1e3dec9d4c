"""The numbers of TVM's TIR. All other TIR names can be imported, and raise NotImplementedError when used."""
from ._load import core
from ._numbers import FloatImm, IntImm, const
from ._refused import fill
from .ir.expr import PrimExpr

__getattr__ = fill(globals(), "Baton has no TIR: kernels are generated from the operators' own definitions")
Any = core.Any


class StringImm(str):
    """A str."""

    def __new__(cls, value, span=None):
        return super().__new__(cls, value)

    @property
    def value(self):
        """The str."""
        return str(self)
