"""Compiling and running programs."""
from .._load import not_provided
from ..ir import IRModule
from ..registry import register_func  # noqa: F401 -- names of this module in TVM, as the others without a use here
from ..runtime import ndarray
from ..runtime.module import load_module  # noqa: F401
from ..target import Target, build_targets  # noqa: F401
from ._building import BuildModule, Executor, Runtime, bind_params_by_name, build, optimize  # noqa: F401
from .backend.executor_factory import GraphExecutorFactoryModule  # noqa: F401

_KINDS = {"graph": "GraphExecutor", "debug": "Interpreter", "vm": "VMExecutor", "aot": "AotExecutor"}


def create_executor(kind="debug", mod=None, device=None, target="llvm", params=None):
    """Something whose evaluate() makes a Python function of `mod`, for `device` and `target` as build() takes them.

    `kind`: "graph", "aot", "vm" and "debug" all run kernels in the order of a plan: programs without control flow. "vm" and "debug"
    also run other programs with an interpreter, operator by operator: slow, for small programs.
    `params` (arrays by name) need not be given in calls.
    """
    if kind not in _KINDS:
        raise RuntimeError(f"unknown execution strategy: {kind}")
    if mod is not None and not isinstance(mod, IRModule):
        raise TypeError(f"create_executor: mod is an IRModule, not {type(mod).__name__}")
    ndarray.require_devices(device)
    build_targets(target)
    return _executor(_KINDS[kind])(IRModule() if mod is None else mod, device, target, params)


def _executor(name):
    """Executors are imported on demand, to keep `import baton` fast."""
    from .backend import interpreter, vm

    return getattr(vm if name == "VMExecutor" else interpreter, name)


def __getattr__(name):
    if name in ("GraphExecutor", "AotExecutor", "VMExecutor"):
        return _executor(name)
    if name == "InferType":
        from .transform import InferType

        return InferType
    if name == "mangle_module_name":
        from .backend.name_transforms import mangle_module_name

        return mangle_module_name
    not_provided(__name__, name)
