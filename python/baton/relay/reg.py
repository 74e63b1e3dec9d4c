"""The same names as relay.op.op."""
from .op import op as _op


def __getattr__(name):
    return getattr(_op, name)
