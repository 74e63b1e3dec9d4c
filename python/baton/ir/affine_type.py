"""Affine types of quantised numbers."""
from .._ffi_names import Node


class AffineType(Node):
    """Base of the two below."""


class TensorAffineType(AffineType):
    """(number - zero_point) * scale, both expressions, along `axis` when they have several elements; numbers are of `dtype`."""

    def __init__(self, scale, zero_point, dtype, axis=-1):
        self.scale, self.zero_point, self.dtype, self.axis = scale, zero_point, dtype, axis


class TupleAffineType(AffineType):
    """The affine types of a tuple's fields."""

    def __init__(self, types):
        self.types = list(types)
