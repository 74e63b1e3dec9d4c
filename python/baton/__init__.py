"""Baton: a compiler for Relay programs, under the names of TVM 0.11.1.

    import baton as tvm
    from baton import relay

Beside those, for what relay.build returned: profile (times of every operator), diff (of two profiles), explain and origins (which
kernels compute which operators), extract and mark (parts of a program); load and from_torch, which make
modules of files and of torch's modules; module, which names the parts of a program, whose times reports add up;
targets (what this machine can run), and load_backend and get_include, for backends of your own.
"""
from ._load import not_provided as _not_provided
from . import error
from .error import TVMError
from . import ir, runtime
from .runtime import ndarray as nd
from .runtime import (DataType, DataTypeCode, Device, NDArray, Object, cl, cpu, cuda, device, ext_dev, gpu, hexagon, load_module,
                      metal, mtl, opencl, rocm, vpi, vulkan)
from . import target, transform, parser
from .ir import IRModule, instrument
from . import relay, contrib
from .ir.memory_pools import (ConstantMemoryPools, ConstantPoolInfo, PoolInfo, PoolInfoProperties, WorkspaceMemoryPools,
                              WorkspacePoolInfo)
from .registry import get_global_func, register_func
from . import _ffi, _notebook

__version__ = "0.1.0"

from . import (arith, auto_scheduler, autotvm, driver, meta_schedule, rpc, script, support, te, tir, topi)  # noqa: E402
from .ir import container  # noqa: E402
from ._ffi_names import register_extension, register_object  # noqa: E402
from .driver import build, lower  # noqa: E402


def tvm_wrap_excepthook(exception_hook):
    """Returns `exception_hook` unchanged: there are no child processes to terminate on an uncaught exception."""
    return exception_hook


# Imported on demand, to keep `import baton` fast.
_LATER = {"ProfileDiff": "_profile", "ProfileReport": "_profile", "compare": "_profile", "diff": "_profile", "explain": "_explain",
          "apply_mapping": "_map", "extract": "_cut", "from_torch": "_load_model", "load": "_load_model", "map": "_map", "mark": "_cut", "measure": "_measure", "module": "_origins", "get_include": "_targets", "load_backend": "_targets", "origins": "_origins",
          "profile": "_profile", "predict": "_predict", "probe": "_predict", "side_by_side": "_queues", "train": "_predict", "Predictor": "_predict", "targets": "_targets"}
_MODULES_LATER = ("store", "testing")
__all__ = sorted({name for name in globals() if not name.startswith("_")} | {*_LATER, *_MODULES_LATER})


def __dir__():
    return sorted({*globals(), *_LATER, *_MODULES_LATER})


def __getattr__(name):
    if name in _LATER or name in _MODULES_LATER:
        import importlib

        module = importlib.import_module("." + _LATER.get(name, name), __name__)
        value = globals()[name] = getattr(module, name) if name in _LATER else module
        return value
    _not_provided(__name__, name)
