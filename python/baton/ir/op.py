"""Operators."""
from .._load import core

Op = core.Op
Op.get = staticmethod(core.get_op)
Op.list_op_names = staticmethod(core.list_op_names)
