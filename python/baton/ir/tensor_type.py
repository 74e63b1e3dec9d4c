"""Types of tensors: the same names as baton.ir.type."""
from .type import TensorType

__all__ = ["TensorType"]
