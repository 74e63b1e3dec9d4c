"""The numbers that TVM has in TIR. Everything else of TIR can be imported, and raises NotImplementedError when used."""
from ._load import core
from ._refused import fill
from .ir.expr import PrimExpr

__getattr__ = fill(globals(), "Baton has no TIR: kernels are generated from the operators' own definitions")
Any = core.Any


class IntImm(int):
    """An int that knows its dtype; usable where an int is, also as an extent."""

    def __new__(cls, dtype, value, span=None):
        made = super().__new__(cls, value)
        made.dtype = str(dtype)
        return made

    @property
    def value(self):
        """The int."""
        return int(self)

    def __repr__(self):
        return str(int(self))


class FloatImm(float):
    """A float that knows its dtype."""

    def __new__(cls, dtype, value, span=None):
        made = super().__new__(cls, value)
        made.dtype = str(dtype)
        return made

    @property
    def value(self):
        """The float."""
        return float(self)


class StringImm(str):
    """A str."""

    def __new__(cls, value, span=None):
        return super().__new__(cls, value)

    @property
    def value(self):
        """The str."""
        return str(self)


def const(value, dtype=None, span=None):
    """A number with a dtype: an IntImm or FloatImm; without one int32, float32 or bool."""
    if dtype is None:
        dtype = "bool" if isinstance(value, bool) else "float32" if isinstance(value, float) else "int32"
    return (FloatImm if "float" in dtype else IntImm)(dtype, value)
