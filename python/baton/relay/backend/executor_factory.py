"""What relay.build returns."""
import math
import warnings

from ..._load import core
from ..._origins import Origins
from ...registry import get_global_func
from ...runtime.module import BuiltSource, FactoryModule
from ...runtime.types import DataType
from .executor import Executor

string_types = (str,)


class FunctionInfo:
    """A kernel as relay.build's function_metadata lists it: the Relay function it computes, by target.

    `workspace_sizes`, `io_sizes` and `constant_sizes`: bytes, by target. There is no TIR: `tir_primfuncs` is empty.
    """

    def __init__(self, target, function, sizes):
        self.relay_primfuncs, self.tir_primfuncs = {target: function}, {}
        self.io_sizes, self.constant_sizes, self.workspace_sizes = ({target: each} for each in sizes)

    @property
    def function(self):
        """The Relay function."""
        return next(iter(self.relay_primfuncs.values()))

    def __repr__(self):
        parts = [f"{name}={{{', '.join(f'{target}: {each}' for target, each in getattr(self, name).items())}}}"
                 for name in ("workspace_sizes", "io_sizes", "constant_sizes", "tir_primfuncs", "relay_primfuncs")]
        return "FunctionInfoNode(\n" + ",\n  ".join(parts) + ")"


class ExecutorFactoryModule:
    """`lib["default"](device)` creates an executor module; unpacks as graph.json, library, params."""

    def __init__(self, ir_mod, target, executor, libmod, libmod_name, params, function_metadata):
        self.ir_mod, self.target, self.executor = ir_mod, target, executor
        self.module, self.lib = libmod, FactoryModule(libmod._source, libmod_name, "llvm")  # pylint: disable=protected-access
        self.libmod_name, self.params, self.function_metadata = libmod_name, params, function_metadata
        self.iter_cnt, self._origins = 0, None

    @property
    def result(self):
        """What core.build returned."""
        return self.module.result

    @property
    def origins(self):
        """Every operator of `ir_mod`, a list of dicts with lookups both ways: `of_kernel(name)`, `of_node(id)`, `of(call)`,
        `nodes_of(operator)`, `kernels_of(operator)`."""
        if self._origins is None:
            self._origins = Origins(self.result)
        return self._origins

    @property
    def fused_mod(self):
        """The lowered module, an IRModule: `main` calls kernels, which are functions named as in graph.json."""
        return core.fused_mod(self.result)

    def get_executor_config(self):
        """The executor's configuration: graph.json, or None."""
        return None

    def get_params(self):
        """Constants by the plan's names, NDArrays, and those of regions that are compiled in Python (registry.register_func)."""
        return self.params

    def get_lib(self):
        """The kernels, a runtime.Module."""
        return self.lib

    def get_devices(self):
        """The kinds of device it needs."""
        from ...runtime.device import Device

        return [Device.NAMES.get(each, str(each)) for each in core.plan_devices(self.result.graph_json)]

    def export_library(self, file_name, fcompile=None, addons=None, **kwargs):
        """Writes one file that runtime.load_module opens."""
        return self.module.export_library(file_name, fcompile, addons, **kwargs)

    def __getitem__(self, item):
        return self.module[item]

    def __iter__(self):
        warnings.warn("legacy graph executor behavior of producing json / lib / params will be removed in the next release. "
                      "Please see documents of tvm.contrib.graph_executor.GraphModule for the new recommended usage.",
                      DeprecationWarning, stacklevel=2)
        return iter((self.get_executor_config(), self.lib, self.params))


class GraphExecutorFactoryModule(ExecutorFactoryModule):
    """What build() returns for the graph executor. `graph_json`: the plan."""

    def __init__(self, ir_mod, target, executor, graph_json_str, libmod, libmod_name, params, function_metadata):
        super().__init__(ir_mod, target, executor, libmod, libmod_name, params, function_metadata)
        self.graph_json = self.graph_json_str = graph_json_str

    def get_graph_json(self):
        """The plan, as TVM's graph.json."""
        return self.graph_json

    get_executor_config = get_graph_json


class AOTExecutorFactoryModule(ExecutorFactoryModule):
    """What build() returns for executor="aot". The order of kernels comes from the plan here too."""

    def __init__(self, ir_mod, lowered_ir_mods, target, executor, runtime, libmod, libmod_name, params, function_metadata,
                 executor_codegen_metadata, devices):
        super().__init__(ir_mod, target, executor, libmod, libmod_name, params, function_metadata)
        self.lowered_ir_mods, self.runtime = lowered_ir_mods, runtime
        self.executor_codegen_metadata, self.devices = executor_codegen_metadata, devices

    def get_devices(self):
        return self.devices

    def get_executor_config(self):
        """None: nothing is read at run time."""
        return None


def _sizes(function):
    """Bytes of (inputs and outputs, constants, workspace) of a kernel; tensors of unknown shape count nothing."""

    def count(ty):
        if ty is None:
            return 0
        if hasattr(ty, "fields"):
            return sum(count(each) for each in ty.fields)
        extents = getattr(ty, "shape", None)
        if extents is None or any(not isinstance(each, int) for each in extents):
            return 0
        return math.prod(extents) * ((DataType(ty.dtype).bits + 7) // 8)

    ret = function.ret_type
    return sum(count(each.checked_type) for each in function.params) + count(ret), 0, 0


class _Metadata(dict):
    """Created on demand: most builds do not need it."""

    def __init__(self, functions, target):
        super().__init__(functions)
        self._target = target

    def __iter__(self):  # else dict(self) would copy the functions as they are
        return super().__iter__()

    def __getitem__(self, name):
        found = super().__getitem__(name)
        return FunctionInfo(self._target, found, _sizes(found))

    def get(self, name, default=None):
        return self[name] if name in self else default

    def items(self):
        return [(name, self[name]) for name in self]

    def values(self):
        return [self[name] for name in self]


def factory_of(result, target, executor=None, runtime=None, constants=None):
    """The factory module of a core.BuildResult. `constants`: of regions that are compiled in Python, arrays by name."""
    params = {**result.params, **(constants or {})}
    executor = executor or Executor("graph")
    libmod, metadata = FactoryModule(BuiltSource(result), result.mod_name), _Metadata(result.function_metadata, target)
    if executor.name == "aot":
        return AOTExecutorFactoryModule(result.source, {target: result.optimized}, target, executor, runtime, libmod,
                                        result.mod_name, params, metadata, None, [])
    return GraphExecutorFactoryModule(result.source, target, executor, result.graph_json, libmod, result.mod_name,
                                      params, metadata)
