"""Debugging of graphs: values and kernel times."""
from . import debug_executor, debug_result
