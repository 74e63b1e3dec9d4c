"""Numbers, and the expressions that extents of tensors are made of: variables, sums, products and quotients of them."""
from .._load import core
from .._numbers import FloatImm, IntImm, const
from .._refused import fill
from ..ir.expr import PrimExpr

Any = core.Any
Var = core.ExtentVar
SizeVar = core.ExtentSizeVar
Add = core.ExtentAdd
Sub = core.ExtentSub
Mul = core.ExtentMul
FloorDiv = core.ExtentFloorDiv

__getattr__ = fill(globals(), "Baton has no TIR: kernels are generated from the operators' own definitions")


def Cast(dtype, value, span=None):
    """A number as one of another dtype. Extents are integers already, and stay what they are."""
    if isinstance(value, core.SymbolicExtent):
        if not str(dtype).startswith(("int", "uint")):
            raise NotImplementedError(f"tir.Cast: an extent as {dtype}: Baton has extents that are integers only")
        return value
    return const(value, str(dtype))


class StringImm(str):
    """A str."""

    def __new__(cls, value, span=None):
        return super().__new__(cls, value)

    @property
    def value(self):
        """The str."""
        return str(self)
