"""From a program to something that runs."""
import warnings

from .._load import core, not_provided
from ..ir import IRModule
from ..runtime import ndarray
from ..runtime.module import Module, load_module
from ..target import Target, require_cpu
from .function import Function


def _native(params):
    return {name: ndarray.to_native(value) for name, value in (params or {}).items()}


def _module_of(ir_mod):
    if isinstance(ir_mod, IRModule):
        return ir_mod
    if isinstance(ir_mod, Function):
        warnings.warn("give build an IRModule instead of a Function", DeprecationWarning, stacklevel=3)
        return IRModule.from_expr(ir_mod)
    raise ValueError(f"Type of input parameter mod must be tvm.IRModule, not {type(ir_mod).__name__}")


class FunctionInfo:
    """What `function_metadata` knows of a kernel: the Relay function it computes, by target."""

    def __init__(self, target, function):
        self.relay_primfuncs = {target: function}


class GraphExecutorFactoryModule:
    """What build() returns. `lib["default"](device)` makes something to run; unpacks as graph.json, library, params."""

    def __init__(self, result, target):
        self.result, self.target = result, target
        self.ir_mod, self.libmod_name = result.source, result.mod_name
        self.graph_json_str, self.params, self.function_metadata = result.graph_json, result.params, {
            name: FunctionInfo(target, function) for name, function in result.function_metadata.items()}
        self.lib = self.module = Module(result.make_executor, result.write_artifact, result.mod_name)
        self.lib.result = result  # what a relay.ext.<compiler> hands back

    def get_graph_json(self):
        """The plan, as TVM's graph.json."""
        return self.graph_json_str

    get_executor_config = get_graph_json

    def get_lib(self):
        """The kernels, a runtime.Module."""
        return self.lib

    def get_params(self):
        """Constants by the plan's names, NDArrays."""
        return self.params

    def get_devices(self):
        """The kinds of device it needs."""
        return ["cpu"]

    def export_library(self, file_name, *args, **kwargs):
        """Writes one file that runtime.load_module opens."""
        return self.lib.export_library(file_name)

    def __getitem__(self, name):
        return self.lib[name]

    def __iter__(self):
        warnings.warn("unpacking a build is deprecated: use the factory module", DeprecationWarning, stacklevel=2)
        return iter((self.graph_json_str, self.lib, self.params))


def build(ir_mod, target=None, target_host=None, executor=None, runtime=None, workspace_memory_pools=None,
          constant_memory_pools=None, params=None, mod_name="default"):
    """Compiles a module whose shapes are static for the processor of this machine.

    `params` (arrays by name) become constants. The current PassContext decides on passes. Raises DiagnosticError for a
    wrong program, NotSupported for what cannot be built yet, ValueError without a target.
    """
    for name, value in (("workspace_memory_pools", workspace_memory_pools), ("constant_memory_pools", constant_memory_pools)):
        if value is not None:
            raise NotImplementedError(f"build: {name} is not provided yet")
    target = require_cpu(target)
    return GraphExecutorFactoryModule(core.build(_module_of(ir_mod), _native(params), None, mod_name), target)


def optimize(mod, target=None, params=None):
    """(module, params): what build() makes kernels from; `params` are constants in it then."""
    require_cpu(target)
    module = _module_of(mod)
    return core.optimize(core.bind_params(module, _native(params)) if params else module), params or {}


def bind_params_by_name(func, params):
    """`func` with the parameters of these names replaced by constants (arrays by name)."""
    return core.bind_params(IRModule({"main": func}), _native(params))["main"]


class GraphExecutor:
    """Builds a module and makes a Python function of it."""

    def __init__(self, mod, device, target, params=None):
        self.mod, self.device, self.target, self.params = mod, device, target, params

    def evaluate(self, expr=None, binds=None):
        """A function of arrays that runs `main` (or the Function `expr`) and returns an NDArray, or a list for a tuple.

        Any other expression is run at once.
        """
        if binds:
            raise NotImplementedError("evaluate: binds is not provided yet")
        if expr is None:
            return self._function(self.mod)
        module = self.mod.copy() if self.mod is not None else IRModule()
        if hasattr(expr, "name_hint") and expr.name_hint in module:
            expr = module[expr.name_hint]
        module["main"] = expr if isinstance(expr, Function) else Function([], expr)
        runner = self._function(module)
        return runner if isinstance(expr, Function) else runner()

    def _function(self, module):
        from ..contrib.graph_executor import GraphModule
        from . import transform

        module = transform.InferType()(module)
        main = module["main"]
        names = [each.name_hint for each in main.params]
        result = GraphModule(build(module, self.target, params=self.params)["default"](self.device))

        def run(*args, **kwargs):
            free = [name for name in names if name not in (self.params or {})]
            if len(args) + len(kwargs) != len(free):
                raise ValueError(f"main takes {len(free)} arguments ({', '.join(free)}), {len(args) + len(kwargs)} were given")
            for name, value in [*zip([name for name in free if name not in kwargs], args), *kwargs.items()]:
                if name not in free:
                    raise TypeError(f"main has no parameter {name!r}")
                result.set_input(name, value)
            result.run()
            outputs = iter([ndarray.array(result.get_output(i)) for i in range(result.get_num_outputs())])
            return _nested(main.ret_type, outputs)

        return run


def _nested(ret_type, outputs):
    fields = getattr(ret_type, "fields", None)
    return next(outputs) if fields is None else [_nested(each, outputs) for each in fields]


def create_executor(kind="debug", mod=None, device=None, target="llvm", params=None):
    """Something whose evaluate() makes a Python function of a module.

    "graph", "debug", "vm" and "aot" all run the graph: programs without control flow.
    """
    if kind not in ("graph", "debug", "vm", "aot"):
        raise RuntimeError(f"unknown execution strategy: {kind}")
    if device is not None:
        ndarray.require_host(device)
    return GraphExecutor(IRModule() if mod is None else mod, device, target, params)


def __getattr__(name):
    not_provided(__name__, name)
