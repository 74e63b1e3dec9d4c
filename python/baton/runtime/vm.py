"""Executables and virtual machines. Each function of an executable is a plan: programs without control flow."""
import json
import os
import shutil
import tempfile

from .._load import core
from .._wanted import listed
from . import container, ndarray
from .benchmark import BenchmarkResult
from .device import require_host
from .module import BuiltSource, FactoryModule, FileSource, Module

RPC_SESS_MASK = 128
_MAGIC = b"BATONVM1"


def convert(args):
    """Arguments of a function as it takes them: a list of NDArrays, and of ADTs for tuples and lists."""
    def one(value):
        if isinstance(value, (list, tuple)):
            return container.ADT(0, [one(each) for each in value])
        return value if isinstance(value, (ndarray.NDArray, core.ConstructorValue, core.RefValue)) else ndarray.array(value)

    return [one(each) for each in listed("args", args)]


class _Entry:
    """A function: where its plan and kernels come from, its parameters' names, and the shape of what it returns."""

    def __init__(self, source, params, result):
        self.source, self.params, self.result = source, params, result

    @property
    def graph(self):
        """The plan, read."""
        return json.loads(self.source.graph_json)


def _nesting(ty):
    fields = getattr(ty, "fields", None)
    return None if fields is None else [_nesting(each) for each in fields]


def built_functions(results, params):
    """{name: function} of builds; `params`: names of parameters, by function."""
    return {name: _Entry(BuiltSource(built), params[name], _nesting(built.optimized["main"].ret_type))
            for name, built in results.items()}


def _nested(nesting, outputs):
    return next(outputs) if nesting is None else container.ADT(0, [_nested(each, outputs) for each in nesting])


def _kernel_name(name):
    return name[len("tvmgen_"):] if name.startswith("tvmgen_") else name


class TVMByteArray(bytes):
    """Bytes."""


class Executable:
    """Compiled functions, by name. Made by relay.vm.compile() or load_exec()."""

    def __init__(self, mod):
        if isinstance(mod, Executable):
            mod = mod._entries
        if not isinstance(mod, dict):
            raise TypeError(f"Executable: what relay.vm.compile returns is expected, not {type(mod).__name__}")
        self._entries = mod

    def _entry(self, name):
        if name not in self._entries:
            raise ValueError(f"the executable has no function {name!r}, only {', '.join(self._entries)}")
        return self._entries[name]

    @property
    def module(self):
        """Itself: what VirtualMachine takes."""
        return self

    mod = module

    @property
    def lib(self):
        """The kernels and plan of main, a runtime.Module; export_library() writes them."""
        return FactoryModule(self._entry("main").source, "vm_mod")

    def save(self):
        """(code, lib): bytes for load_exec(), and the library to go with them."""
        with tempfile.TemporaryDirectory() as folder:
            facts, files = [], b""
            for name, entry in self._entries.items():
                content = b""
                if name != "main":  # main's plan and kernels are in the library
                    path = os.path.join(folder, "entry")
                    entry.source.write(path)
                    with open(path, "rb") as file:
                        content = file.read()
                facts.append({"name": name, "params": entry.params, "result": entry.result, "bytes": len(content)})
                files += content
        head = json.dumps(facts).encode()
        return bytearray(_MAGIC + len(head).to_bytes(8, "little") + head + files), self.lib

    @staticmethod
    def load_exec(bytecode, lib):
        """The Executable of what save() gave; `lib` may have been written to a file and loaded."""
        if isinstance(bytecode, (bytearray, memoryview)):
            bytecode = bytes(bytecode)
        if not isinstance(bytecode, bytes):
            raise TypeError(f"bytecode is expected to be the type of bytearray or TVMByteArray, but received {type(bytecode)}")
        if lib is not None and not isinstance(lib, FactoryModule):
            raise TypeError(f"lib is expected to be the type of tvm.runtime.Module, but received {type(lib)}")
        try:
            if not bytecode.startswith(_MAGIC):
                raise ValueError("it does not begin as such")
            at = len(_MAGIC) + 8 + int.from_bytes(bytecode[len(_MAGIC):len(_MAGIC) + 8], "little")
            facts, entries = json.loads(bytecode[len(_MAGIC) + 8:at]), {}
            for fact in facts:
                content, at = bytecode[at:at + fact["bytes"]], at + fact["bytes"]
                if len(content) != fact["bytes"]:
                    raise ValueError("it ends too early")
                source = lib._source if fact["name"] == "main" else _source_of(content)  # pylint: disable=protected-access
                entries[fact["name"]] = _Entry(source, fact["params"], fact["result"])
        except (ValueError, KeyError, TypeError, AttributeError) as why:
            raise core.TVMError(f"load_exec: these bytes are no executable that save() wrote: {why}") from why
        return Executable(entries)

    @property
    def globals(self):
        """Names of the functions."""
        return sorted(self._entries)

    @property
    def primitive_ops(self):
        """Names of the kernels."""
        names = {}
        for entry in self._entries.values():
            for node in entry.graph["nodes"]:
                if node["op"] != "null" and not node["attrs"]["func_name"].startswith("__"):
                    names[_kernel_name(node["attrs"]["func_name"])] = None
        return list(names)

    primitives = primitive_ops

    @property
    def constants(self):
        """The constants of all functions, one text each: dtype and shape."""
        return [f"{value.dtype}{list(value.shape)}" for entry in self._entries.values() for value in entry.source.params.values()]

    @property
    def virtual_devices(self):
        """The devices: the host only."""
        return ["VirtualDevice(device_type=1, virtual_device_id=0)"]

    @property
    def bytecode(self):
        """Not provided: functions run by their plans."""
        raise NotImplementedError("Executable.bytecode: programs without control flow run by their plans "
                                  "(`lib[\"get_graph_json\"]()`); there is no bytecode yet")

    @property
    def stats(self):
        """A text: constants, functions, kernels."""
        shapes = ["scalar" if not value.shape else str(list(value.shape))
                  for entry in self._entries.values() for value in entry.source.params.values()]
        functions = ", ".join(f'("{name}", {i})' for i, name in enumerate(self._entries))
        return ("Relay VM executable statistics:\n"
                f"  Constant shapes (# {len(shapes)}): [{', '.join(shapes)}]\n"
                f"  Globals (#{len(self._entries)}): [{functions}]\n"
                f"  Primitive ops (#{len(self.primitive_ops)}): [{', '.join(self.primitive_ops)}]\n")

    def get_function_params(self, func_name):
        """Names of a function's parameters."""
        return list(self._entry(func_name).params)

    def _late_bound(self, *_, **__):
        """Not provided: constants are part of the library's file, which maps them without reading them."""
        raise NotImplementedError("late-bound constants: constants are part of the file that export_library writes, "
                                  "which maps them without reading them")

    move_late_bound_consts = get_late_bound_consts = load_late_bound_consts = load_late_bound_consts_from_map = _late_bound

    def __getitem__(self, name):
        return {"get_stats": lambda: self.stats, "get_primitive_ops": lambda: self.primitive_ops}[name]


def _source_of(content):
    folder = tempfile.mkdtemp(prefix="baton-vm-")
    try:
        path = os.path.join(folder, "entry")
        with open(path, "wb") as file:
            file.write(content)
        return _KeptFile(path, content)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _KeptFile(FileSource):
    """A mapped file that is deleted from disk."""

    def __init__(self, path, content):
        super().__init__(path)
        self._content = content

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self._content)


class VirtualMachine:
    """Runs the functions of an executable. Threads that share one take turns, call by call."""

    NAIVE_ALLOCATOR, POOLED_ALLOCATOR = 1, 2

    def __init__(self, exe, device, memory_cfg=None):
        if not isinstance(exe, (Executable, Module)):
            raise TypeError(f"exe is expected to be the type of Executable, but received {type(exe)}")
        if isinstance(exe, Module):
            raise TypeError("exe: a library alone says nothing of its functions: use Executable.load_exec(code, lib)")
        if memory_cfg is not None and not isinstance(memory_cfg, (str, dict)):
            raise TypeError(f"memory_cfg is expected be string or dictionary, but received {type(memory_cfg)}")
        require_host(device)
        self._exec, self._running, self._outputs = exe, {}, {}

    @property
    def module(self):
        """Itself."""
        return self

    def _run_of(self, func_name):
        """The executor of a function, created on first use."""
        if func_name not in self._running:
            from ..contrib.graph_executor import GraphModule

            entry = self._exec._entry(func_name)  # pylint: disable=protected-access
            self._running[func_name] = GraphModule(FactoryModule(entry.source, "vm_mod")["vm_mod"](None))
        return self._running[func_name]

    def set_input(self, func_name, *args, **kwargs):
        """Sets all parameters of a function, by position or name."""
        names = self._exec.get_function_params(func_name)
        for name in kwargs:
            if name not in names:
                raise ValueError(f"{func_name} has no parameter {name!r}, only {', '.join(names)}")
        if len(args) + len(kwargs) != len(names):
            raise ValueError(f"{func_name} takes {len(names)} arguments ({', '.join(names)}), {len(args) + len(kwargs)} were given")
        rest = iter(args)
        for index, name in enumerate(names):
            self._set(func_name, index, kwargs[name] if name in kwargs else next(rest))

    def _set(self, func_name, index, value):
        run, names = self._run_of(func_name), self._exec.get_function_params(func_name)
        value = getattr(value, "data", value) if isinstance(value, core.Constant) else value
        name = names[index]
        if names.count(name) == 1:
            if run.get_input_index(name) >= 0:  # unused parameters are not inputs
                run.set_input(name, value)
            return
        inputs = [i for i in range(run.module.executor.num_inputs) if run.module.executor.input_name(i) == name]
        if len(inputs) != names.count(name):
            raise ValueError(f"{func_name} has {names.count(name)} parameters {name!r} and uses {len(inputs)} of them: "
                             "which one is meant cannot be said")
        run.set_input(inputs[names[:index].count(name)], value)

    def set_one_input(self, func_name, *args, **kwargs):
        """Sets one parameter: set_one_input("main", index, value), ("main", name, value) or ("main", name=value)."""
        names = self._exec.get_function_params(func_name)
        if len(args) + 2 * len(kwargs) != 2:
            raise ValueError("set_one_input takes one parameter, by name or number, and its value")
        (key, value), = [args] if args else kwargs.items()
        if not isinstance(key, str):
            if not 0 <= key < len(names):
                raise IndexError(f"{func_name} has {len(names)} parameters, asked for {key}")
        elif key not in names:
            raise ValueError(f"{func_name} has no parameter {key!r}, only {', '.join(names)}")
        self._set(func_name, names.index(key) if isinstance(key, str) else key, value)

    def invoke(self, func_name, *args, **kwargs):
        """Runs a function, its parameters set before or given; an NDArray, or an ADT for a tuple."""
        if args or kwargs:
            self.set_input(func_name, *args, **kwargs)
        self.invoke_stateful(func_name)
        return _nested(self._exec._entry(func_name).result, iter(self._outputs[func_name]))  # pylint: disable=protected-access

    def run(self, *args, **kwargs):
        """invoke("main", ...)."""
        return self.invoke("main", *args, **kwargs)

    def invoke_stateful(self, func_name, *args, **kwargs):
        """Runs a function and keeps what it returns for get_outputs()."""
        if args or kwargs:
            self.set_input(func_name, *args, **kwargs)
        run = self._run_of(func_name)
        run.run()
        self._outputs[func_name] = [ndarray.array(run.get_output(i)) for i in range(run.get_num_outputs())]
        self._last = func_name

    def invoke_with_outputs(self, func_name, input_args, output_args):
        """Runs a function, with inputs by name, and writes to the given NDArrays."""
        self.set_input(func_name, **input_args)
        self.invoke_stateful(func_name)
        outputs = self._outputs[func_name]
        if len(outputs) != len(output_args):
            raise ValueError(f"{func_name} returns {len(outputs)} arrays, {len(output_args)} were given to write to")
        for target, value in zip(output_args, outputs):
            target.copyfrom(value)

    _last = None

    def get_outputs(self):
        """The arrays that the last invoke_stateful() returned; fields of tuples one after another."""
        if self._last is None:
            raise core.TVMError("get_outputs: nothing has been run")
        return list(self._outputs[self._last])

    def get_input_index(self, input_name, func_name="main"):
        """The number of a parameter, or -1."""
        names = self._exec.get_function_params(func_name)
        return names.index(input_name) if input_name in names else -1

    def benchmark(self, device, *args, func_name="main", repeat=5, number=5, min_repeat_ms=None, limit_zero_time_iterations=100,
                  end_to_end=False, cooldown_interval_ms=0, repeats_to_cooldown=1, **kwargs):
        """Times a function; a BenchmarkResult of seconds per call. `end_to_end` counts setting inputs and copying outputs."""
        require_host(device)
        options = (number, repeat, min_repeat_ms or 0, limit_zero_time_iterations, cooldown_interval_ms, repeats_to_cooldown)
        self.set_input(func_name, *args, **kwargs)
        if not end_to_end:
            return self._run_of(func_name).module.time_evaluator("run", device, *options)()

        def once():
            self.set_input(func_name, *args, **kwargs)
            self.invoke_stateful(func_name)
            for each in self._outputs[func_name]:
                each.numpy()

        return BenchmarkResult(core.time_bursts(once, *options))
