"""Variables of extents, as TVM's tensor expressions have them: var, size_var. All other names can be imported, and raise
NotImplementedError when used."""
from .._numbers import const
from .._refused import fill
from ..tir.expr import SizeVar, Var

__getattr__ = fill(globals(), "Baton has no tensor expressions: kernels are generated from the operators' own definitions")


def var(name="tindex", dtype="int32", span=None):
    """A new variable, an extent of a tensor: relay.var("x", shape=(te.var("n"), 3)). Each is another, whatever its name."""
    return Var(name, dtype, span)


def size_var(name="size", dtype="int32", span=None):
    """A new variable that is not negative."""
    return SizeVar(name, dtype, span)
