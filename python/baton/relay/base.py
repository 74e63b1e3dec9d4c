"""Common base of program nodes."""
from .._ffi_names import Node as RelayNode
from ..ir.base import Span
from ..ir.names import SourceName

__all__ = ["RelayNode", "SourceName", "Span"]
