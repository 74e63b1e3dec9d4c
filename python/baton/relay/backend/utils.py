"""Helpers of code generators."""
from ..transform import mangle_module_name

__all__ = ["mangle_module_name"]
