"""Baton: a compiler for Relay programs, under the names of TVM 0.11.1.

    import baton as tvm
    from baton import relay
"""
from ._load import not_provided as _not_provided
from . import error
from .error import TVMError
from . import ir, runtime
from .runtime import ndarray as nd
from .runtime import Device, NDArray, cpu, cuda, device, load_module
from . import target, transform, parser
from .ir import IRModule, instrument
from .ir.memory_pools import (ConstantMemoryPools, ConstantPoolInfo, PoolInfo, PoolInfoProperties, WorkspaceMemoryPools,
                              WorkspacePoolInfo)
from .ir import container
from . import relay, contrib
from .registry import get_global_func, register_func
from ._ffi_names import DataType, DataTypeCode, Object, register_extension, register_object
from .driver import build, lower

__version__ = "0.1.0"

_LATER = ("arith", "auto_scheduler", "autotvm", "driver", "meta_schedule", "rpc", "script", "support", "te", "testing", "tir", "topi")


def tvm_wrap_excepthook(exception_hook):
    """`exception_hook` itself: there are no child processes to end when an exception leaves the program."""
    return exception_hook


def _device(name, *aliases):
    def make(dev_id=0):
        return device(aliases[0] if aliases else name, dev_id)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"A device of kind {name}; nothing can be run there."
    return make


gpu, rocm, metal, vulkan, opencl = cuda, _device("rocm"), _device("metal"), _device("vulkan"), _device("opencl")
cl, mtl = opencl, metal


def ext_dev(dev_id=0):
    """An extension device; nothing can be run there."""
    return Device(12, dev_id)


def hexagon(dev_id=0):
    """A Hexagon device; nothing can be run there."""
    return Device(14, dev_id)


def vpi(dev_id=0):
    """A simulated device; nothing can be run there."""
    return Device(9, dev_id)


def __getattr__(name):
    if name in _LATER:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    _not_provided(__name__, name)
