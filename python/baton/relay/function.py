"""Functions."""
from .._load import core
from ..ir.function import BaseFunc

Function = core.Function
