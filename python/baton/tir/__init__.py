"""The numbers of TVM's TIR, and its expressions as far as extents of tensors have them. All other TIR names can be imported, and
raise NotImplementedError when used."""
from . import expr
from .._load import core
from .._numbers import FloatImm, IntImm, const
from .._refused import fill
from ..ir.expr import PrimExpr
from .expr import Add, Any, Cast, FloorDiv, Mul, SizeVar, StringImm, Sub, Var

__getattr__ = fill(globals(), "Baton has no TIR: kernels are generated from the operators' own definitions")


def floordiv(a, b, span=None):
    """a // b, rounded down; of extents, b is a number above 0."""
    return a // b


indexdiv = floordiv


def round(x, span=None):  # noqa: A001
    """As te.round."""
    from ..te import round as rounded

    return rounded(x, span)
