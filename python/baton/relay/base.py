"""What nodes of programs have in common."""
from .._ffi_names import Node as RelayNode
from ..ir.base import SourceName, Span

__all__ = ["RelayNode", "SourceName", "Span"]
