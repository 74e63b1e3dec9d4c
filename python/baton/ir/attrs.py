"""Attributes of operators and of functions, and make_node."""
from .base import Attrs, make_node
from .function import DictAttrs
