"""Operators that annotate a value without changing it."""
from ...._load import core
from ....target.virtual_device import as_virtual_device
from .. import _make

__getattr__, __dir__ = _make.fill(globals(), "annotation")


def on_device(body, device, constrain_result=False, constrain_body=True):
    """`body` lives on `device`: a Device, its name ("cuda") or a VirtualDevice; with constrain_result so does the result.

    constrain_body: False does not constrain where `body` is computed.
    """
    return _make.builder("on_device")(body, as_virtual_device(device), constrain_result, constrain_body)


def function_on_device(function, param_devices, result_device):
    """`function` with devices for its parameters and its result: param_devices, one each, and result_device, as for on_device."""
    return core.with_devices(function, [as_virtual_device(each) for each in param_devices], as_virtual_device(result_device))


_make.explain(globals(), "annotation.")
