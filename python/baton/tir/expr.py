"""Numbers, and the expressions that extents of tensors are made of: variables, sums, products and quotients of them."""
from .._load import core
from .._numbers import FloatImm, IntImm
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


class StringImm(str):
    """A str."""

    def __new__(cls, value, span=None):
        return super().__new__(cls, value)

    @property
    def value(self):
        """The str."""
        return str(self)
