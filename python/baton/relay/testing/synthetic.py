"""A small network that joins dense layers and convolutions of one input, for tests."""
from ..._load import core
from .init import create_workload


def get_net(input_shape=(1, 3, 24, 12), dtype="float32", wtype=None):
    """The network as a Function of `data`; wtype: the data type of its weights, that of the data without one."""
    return core.synthetic(list(input_shape), dtype, wtype or dtype)["main"]


def get_workload(input_shape=(1, 3, 24, 12), dtype="float32", wtype=None):
    """(module, params)."""
    return create_workload(get_net(input_shape, dtype, wtype))
