"""Operators that annotate a value without changing it: the same names as relay.op.annotation."""
from .op import annotation as _operators
from .op.annotation import annotation, function_on_device, on_device


def __getattr__(name):
    return getattr(_operators, name)


def __dir__():
    return sorted({*globals(), *dir(_operators)})
