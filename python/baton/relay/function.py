"""Functions."""
from .._load import core
from ..ir.function import BaseFunc

Function = core.Function


def FunctionWithFields(function, params=None, body=None, ret_type=None, ty_params=None, attrs=None, virtual_device=None, span=None):
    """`function` with some of its parts replaced, None for what stays; itself when all are the same.

    It keeps its origins and has no type before InferType. `virtual_device` must be None: see
    relay.annotation.function_on_device.
    """
    if virtual_device is not None:
        raise NotImplementedError("FunctionWithFields: a place is given by relay.annotation.function_on_device")
    return core.rebuild(function, params, body, ret_type, ty_params, None if attrs is None else dict(attrs), span)
