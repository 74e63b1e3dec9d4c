"""Arrays, devices and loaded models."""
from .._load import core, not_provided

from . import ndarray
from .module import Module, load_module
from .ndarray import Device, NDArray, cpu, cuda, device


def save_param_dict(params):
    """The bytes of TVM's parameter format; `params`: arrays by name."""
    return core.save_params({name: ndarray.to_native(value) for name, value in params.items()})


def load_param_dict(param_bytes):
    """NDArrays by name. Raises TVMError for damaged bytes."""
    return core.load_params(bytes(param_bytes))


def __getattr__(name):
    not_provided(__name__, name)
