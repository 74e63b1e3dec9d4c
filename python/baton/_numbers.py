"""Numbers with a dtype, as in TVM's TIR. Subclasses of the Python number types; extents and attributes are given as these."""
from ._load import core


class IntImm(int):
    """An integer constant: `value` and `dtype`."""

    dtype, span = "int32", None

    def __new__(cls, dtype, value, span=None):
        made = super().__new__(cls, int(value))
        if str(dtype) != "int32":
            made.dtype = str(dtype)
        if span is not None:
            made.span = span
        return made

    @property
    def value(self):
        """The number, an int."""
        return int(self)

    def __reduce__(self):
        return IntImm, (self.dtype, int(self))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class FloatImm(float):
    """A floating point constant: `value` and `dtype`."""

    dtype, span = "float32", None

    def __new__(cls, dtype, value, span=None):
        made = super().__new__(cls, float(value))
        if str(dtype) != "float32":
            made.dtype = str(dtype)
        if span is not None:
            made.span = span
        return made

    @property
    def value(self):
        """The number, a float."""
        return float(self)

    def __reduce__(self):
        return FloatImm, (self.dtype, float(self))


core.set_number_classes(IntImm, FloatImm)


def const(value, dtype=None, span=None):
    """A number as IntImm or FloatImm. Without `dtype`: bool, int32, float32 by the kind of `value`."""
    if dtype is None:
        if isinstance(value, bool):
            dtype = "bool"
        elif hasattr(value, "dtype"):
            dtype = str(value.dtype)
        else:
            dtype = "int32" if hasattr(value, "__index__") else "float32"
    if dtype == "uint64" and int(value) >= 1 << 63:
        raise NotImplementedError(f"const: {int(value)} is too large: uint64 constants beyond 2^63 - 1 are not provided")
    return (FloatImm if "float" in dtype else IntImm)(dtype, value, span)
