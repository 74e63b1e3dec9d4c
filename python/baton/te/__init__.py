"""Variables of extents, as TVM's tensor expressions have them: var, size_var. All other names can be imported, and raise
NotImplementedError when used."""
import math

from .._numbers import const
from .._refused import fill
from ..ir.expr import PrimExpr
from ..tir.expr import SizeVar, Var

__getattr__ = fill(globals(), "Baton has no tensor expressions: kernels are generated from the operators' own definitions")


def var(name="tindex", dtype="int32", span=None):
    """A new variable, an extent of a tensor: relay.var("x", shape=(te.var("n"), 3)). Each is another, whatever its name."""
    return Var(name, dtype, span)


def round(x, span=None):  # noqa: A001
    """An extent as it is: extents are whole numbers; other numbers to the nearest one, halves away from zero."""
    if isinstance(x, PrimExpr) and not isinstance(x, float):
        return x
    return const(float(math.floor(abs(x) + 0.5)) * (-1 if x < 0 else 1), getattr(x, "dtype", "float32"))


def size_var(name="size", dtype="int32", span=None):
    """A new variable that is not negative."""
    return SizeVar(name, dtype, span)
