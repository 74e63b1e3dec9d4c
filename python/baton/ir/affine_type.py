"""TVM's types of quantised numbers; FakeQuantizationToInteger keeps them to itself here."""
from .absent import absent

_REASON = "scales and zero points are arguments of the operators of relay.qnn"
TensorAffineType = absent("TensorAffineType", _REASON)
TupleAffineType = absent("TupleAffineType", _REASON)
