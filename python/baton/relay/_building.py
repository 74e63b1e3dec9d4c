"""The implementation of relay.build_module and of the executors of relay.backend."""
import warnings

from .._load import core
from .._wanted import mapped
from ..ir import IRModule
from ..registry import constants_of_regions
from ..runtime import ndarray
from ..target import build_targets
from .backend.executor import Executor
from .backend.executor_factory import factory_of
from .backend.runtime import Runtime
from .function import Function


def _native(params):
    arrays = {}
    for name, value in mapped("params", {} if params is None else params, "a dict of arrays by name"):
        try:
            arrays[str(name)] = ndarray.to_native(value)
        except (TypeError, ValueError) as why:
            raise type(why)(f"params[{str(name)!r}]: {why}") from why
    return arrays


def _module_of(ir_mod):
    if isinstance(ir_mod, IRModule):
        return ir_mod
    if isinstance(ir_mod, Function):
        warnings.warn("give build an IRModule instead of a Function", DeprecationWarning, stacklevel=3)
        return IRModule.from_expr(ir_mod)
    raise ValueError(f"Type of input parameter mod must be tvm.IRModule, not {type(ir_mod).__name__}")


def build(ir_mod, target=None, target_host=None, executor=None, runtime=None, workspace_memory_pools=None,
          constant_memory_pools=None, params=None, mod_name="default", *, progress=None):
    """Compiles a module whose shapes are static for the processor of this machine.

    `ir_mod`: an IRModule. `target`: "llvm", a Target, or several (the first is the default), else the current one; `target_host` is the older way to give its
    host. `params` (arrays by name) become constants. The current PassContext decides on passes. `executor`:
    Executor("graph") or Executor("aot"); `runtime`: Runtime("cpp"). `mod_name` begins the names of kernels.
    workspace_memory_pools and constant_memory_pools: NotImplementedError. `progress`(phase, done, total) is Baton's own:
    called now and then, from any thread.

    Raises DiagnosticError for a wrong program, NotSupported for what cannot be built yet, ValueError without a target;
    KeyboardInterrupt comes within a second, whatever is being compiled.
    """
    for name, value in (("workspace_memory_pools", workspace_memory_pools), ("constant_memory_pools", constant_memory_pools)):
        if value is not None:
            raise NotImplementedError(f"build: {name} is not provided yet")
    targets, executor, runtime = _targets_of(target, target_host), _executor_of(executor), _runtime_of(runtime)
    if progress is not None and not callable(progress):
        raise TypeError(f"build: progress is a function, not {type(progress).__name__}")
    if not isinstance(mod_name, str) or not mod_name:
        raise ValueError(f"build: mod_name is a name, not {mod_name!r}")
    module = _module_of(ir_mod)
    _warn_of_unused(module, params, targets)
    with constants_of_regions() as constants:
        result = core.build(module, _native(params), *_texts(targets), mod_name, progress)
    return factory_of(result, targets[0], executor, runtime, constants)


def _warn_of_unused(module, params, targets):
    """What is given and has no effect. TVM ignores both; a misspelt name is what they mostly are."""
    for each in targets:
        if not core.is_known_processor(_text(each)):
            warnings.warn(f"build: no processor `{each.mcpu}` of -mcpu is known; it has no effect", stacklevel=3)
    known = {var.name_hint for var in module["main"].params} if params and "main" in module else None
    unknown = [] if known is None else [name for name in params if name not in known]
    if unknown:
        shown = ", ".join(f"`{name}`" for name in unknown[:3]) + (f" and {len(unknown) - 3} more" if len(unknown) > 3 else "")
        warnings.warn(f"build: params has {shown}, of which main has no parameter; ignored", stacklevel=3)


def _targets_of(target, target_host):
    if target_host is not None:
        warnings.warn("target_host parameter is going to be deprecated. Please pass in tvm.target.Target(target, "
                      "host=target_host) instead.", DeprecationWarning, stacklevel=3)
        build_targets(target_host)
    return build_targets(target)


def _texts(targets):
    """Targets and their host as strings for C++; "c" is an alias of the CPU's target."""
    host = next((each.host for each in targets if each.host is not None), None)
    return [_text(each) for each in targets], "" if host is None else _text(host)


def _text(target):
    return str(target).replace("c", "llvm", 1) if target.kind.name == "c" else str(target)


def _executor_of(executor):
    if isinstance(executor, str):
        executor = Executor(executor)
    if executor is not None and not isinstance(executor, Executor):
        raise TypeError(f"build: executor is an Executor, not {type(executor).__name__}")
    return executor or Executor("graph")


def _runtime_of(runtime):
    runtime = Runtime(runtime) if isinstance(runtime, str) else runtime or Runtime("cpp")
    if not isinstance(runtime, Runtime):
        raise TypeError(f"build: runtime is a Runtime, not {type(runtime).__name__}")
    if runtime.name != "cpp":
        raise core.NotSupported(f"{runtime}: Baton's kernels run in this process or under its C interface (Runtime(\"cpp\"))")
    return runtime


def optimize(mod, target=None, params=None):
    """(module, params): the input of code generation in build(mod, target); `params` are bound as constants."""
    targets = build_targets(target)
    module = _module_of(mod)
    bound = core.bind_params(module, _native(params)) if params else module
    return core.optimize(bound, *_texts(targets)), params or {}


def bind_params_by_name(func, params):
    """`func` with the parameters that `params` names replaced by constants: arrays by name."""
    return core.bind_params(IRModule({"main": func}), _native(params), False)["main"]


class BuildModule:
    """Builds step by step: build() or optimize(), then getters for the results."""

    def __init__(self):
        self._lib = None

    def build(self, mod, target=None, target_host=None, executor=None, runtime=None, workspace_memory_pools=None,
              constant_memory_pools=None, params=None, mod_name=None):
        """As relay.build; (executor's configuration, module, params)."""
        self._lib = build(mod, target, target_host, executor, runtime, workspace_memory_pools, constant_memory_pools, params,
                          mod_name or "default")
        return self._lib.get_executor_config(), self._lib.module, self._lib.params

    def optimize(self, mod, target=None, target_host=None, params=None):
        """As relay.optimize."""
        return optimize(mod, target, params)

    def _built(self):
        if self._lib is None:
            raise core.TVMError("BuildModule: build() has not been called")
        return self._lib

    def get_graph_json(self):
        """The plan."""
        return self._built().get_executor_config()

    def get_module(self):
        """The kernels."""
        return self._built().module

    def get_function_metadata(self):
        """Relay functions of the kernels, by name."""
        return self._built().function_metadata

    def get_executor_codegen_metadata(self):
        """None: the plan is sufficient."""
        return getattr(self._built(), "executor_codegen_metadata", None)

    def get_devices(self):
        """The kinds of device."""
        return self._built().get_devices()

    def get_params(self):
        """Constants by the plan's names."""
        return self._built().params

    def get_irmodule(self):
        """The input module."""
        return self._built().ir_mod
