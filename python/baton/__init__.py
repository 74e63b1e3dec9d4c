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
from . import relay, contrib
from .registry import get_global_func, register_func

__version__ = "0.1.0"

from . import (arith, auto_scheduler, autotvm, driver, meta_schedule, rpc, script, support, te, testing, tir,  # noqa: E402
               topi)
from .ir import container  # noqa: E402
from ._ffi_names import register_extension, register_object  # noqa: E402
from .driver import build, lower  # noqa: E402
from .ir.memory_pools import (ConstantMemoryPools, ConstantPoolInfo, PoolInfo, PoolInfoProperties,  # noqa: E402
                              WorkspaceMemoryPools, WorkspacePoolInfo)


def tvm_wrap_excepthook(exception_hook):
    """`exception_hook` itself: there are no child processes to end when an exception leaves the program."""
    return exception_hook


def __getattr__(name):
    _not_provided(__name__, name)
