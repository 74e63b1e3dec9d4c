"""Constants and shapes as Python's numbers. Other names of tvm.topi.utils raise NotImplementedError when used."""
from .._refused import fill as _fill
from ..relay.op.strategy import get_const_float, get_const_int, get_const_tuple, get_float_tuple
from . import _REASON

_refused = _fill(globals(), _REASON)


class InvalidShapeError(ValueError):
    """Shapes that a layer cannot have."""


def equal_const_int(expr, value):
    """Whether `expr` is the constant `value`."""
    try:
        return get_const_int(expr) == value
    except ValueError:
        return False


def __getattr__(name):
    return _refused(name)
