"""Numbers with a dtype, as in TVM's TIR. Subclasses of the Python number types."""


class IntImm(int):
    """An integer constant: `value` and `dtype`."""

    def __new__(cls, dtype, value, span=None):
        made = super().__new__(cls, int(value))
        made.dtype, made.value, made.span = str(dtype), int(value), span
        return made

    def __reduce__(self):
        return IntImm, (self.dtype, self.value)


class FloatImm(float):
    """A floating point constant: `value` and `dtype`."""

    def __new__(cls, dtype, value, span=None):
        made = super().__new__(cls, float(value))
        made.dtype, made.value, made.span = str(dtype), float(value), span
        return made

    def __reduce__(self):
        return FloatImm, (self.dtype, self.value)


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
