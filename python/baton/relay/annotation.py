"""Operators that say something about a value and leave it as it is."""
from .._load import core
from ..target.virtual_device import as_virtual_device
from .op import annotation as _operators
from .op import builder


def on_device(body, device, constrain_result=False, constrain_body=True):
    """`body` lives on `device`: a Device, its name ("cuda") or a VirtualDevice; with constrain_result so does the result."""
    return builder("on_device")(body, as_virtual_device(device), constrain_result, constrain_body)


def function_on_device(function, param_devices, result_device):
    """`function` with places for its parameters and its result."""
    return core.with_devices(function, [as_virtual_device(each) for each in param_devices], as_virtual_device(result_device))


def __getattr__(name):
    return getattr(_operators, name)


def __dir__():
    return sorted(set(globals()) | set(dir(_operators)))
