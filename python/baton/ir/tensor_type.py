"""The type of tensors."""
from .type import TensorType
