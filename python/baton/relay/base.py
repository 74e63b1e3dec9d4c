"""Common base of program nodes."""
from .._ffi_names import Node as RelayNode
from ..ir.base import Span
from ..ir.names import SourceName
from .expr import Id

__all__ = ["Id", "RelayNode", "SourceName", "Span"]
