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
from . import _notebook

__version__ = "0.1.0"


def __getattr__(name):
    if name in ("origins", "profile"):
        from . import _profile

        return getattr(_profile, name)
    _not_provided(__name__, name)
