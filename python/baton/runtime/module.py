"""Built modules, ready to be run or written to a file."""
import json
import os

from .._load import core
from .._wanted import wanted, wrong
from .base_module import Module
from .device import Device, require_devices
from .executable import ExecutableModule, ProgramCode


def _params_in(params_bytes):
    return core.load_params(bytes(wanted("params_bytes", params_bytes, (bytes, bytearray, memoryview), "bytes")))


class GraphExecutorModule(Module):
    """One model with its own memory, created by `lib["default"](device)`. contrib.graph_executor.GraphModule runs it."""

    def __init__(self, executor, graph_json, keep=None):
        super().__init__("GraphExecutor", "run")
        self.executor, self.graph_json, self._keep = executor, graph_json, keep
        self._inputs = {executor.input_name(i): i for i in range(executor.num_inputs)}
        self._fitting = {}  # by input: the class and dtype of an array that was set without a cast

    def input_index(self, key):
        """The number of an input, given by name or number. RuntimeError, IndexError or TypeError when there is none."""
        if isinstance(key, str):
            if key not in self._inputs:
                raise RuntimeError(f"Could not find '{key}' in graph's inputs: {', '.join(self._inputs)}")
            return self._inputs[key]
        if isinstance(key, bool) or not hasattr(key, "__index__"):
            raise TypeError(f"an input is given by its name or number, not by a {type(key).__name__}")
        if not 0 <= int(key) < self.executor.num_inputs:
            raise IndexError(f"the model has {self.executor.num_inputs} inputs, asked for {int(key)}")
        return int(key)

    def has_input(self, name):
        """Whether an input is called so."""
        return name in self._inputs

    def output(self, index):
        """An output by its number: a view that the next run changes. IndexError, TypeError when there is none."""
        if isinstance(index, bool) or not hasattr(index, "__index__"):
            raise wrong("index", "the number of an output", index)
        if not 0 <= int(index) < self.executor.num_outputs:
            raise IndexError(f"the model has {self.executor.num_outputs} outputs, asked for {int(index)}")
        return self.executor.output(int(index))

    def set_input(self, key, value):
        """Copies a value to an input. Numbers are cast to its dtype; another shape is a TVMError that names the input."""
        index = self._inputs[key] if key.__class__ is str and key in self._inputs else self.input_index(key)
        if self._fitting.get(index) == (value.__class__, getattr(value, "dtype", None)) and value.flags.c_contiguous:
            self.executor.set_input(index, value)  # the usual case, in a third of the time
            return
        from . import ndarray

        name, dtype = self.executor.input_name(index), self.executor.input_dtype(index)
        if not isinstance(value, ndarray.NDArray) or value.dtype != dtype:
            if isinstance(value, ndarray.NDArray):
                value = value.numpy()
            given, value = value, ndarray.as_numpy(value, dtype, f"input `{name}`")
            if given is value:
                self._fitting[index] = value.__class__, value.dtype
        self.executor.set_input(index, value)

    def set_input_zero_copy(self, key, value):
        """Uses the memory of an NDArray from now on (it is copied if it is not aligned to 64 bytes)."""
        index = self.input_index(key)
        name = self.executor.input_name(index)
        self.executor.bind_input(index, wanted(f"input `{name}`", value, core.NDArray, "an NDArray, whose memory is used"))

    def input_info(self):
        """({name: shape}, {name: dtype})"""
        executor = self.executor
        return ({name: executor.input_shape(i) for name, i in self._inputs.items()},
                {name: executor.input_dtype(i) for name, i in self._inputs.items()})

    def load_params(self, params_bytes):
        """Sets inputs from the bytes of save_param_dict; names that are not inputs are ignored."""
        for name, value in _params_in(params_bytes).items():
            if name in self._inputs:
                self.set_input(name, value)

    def share_params(self, other, params_bytes):
        """Uses the memory of another model's inputs for the parameters that are named in `params_bytes`."""
        for name in _params_in(params_bytes):
            if name in self._inputs:
                self.set_input_zero_copy(name, other["get_input"](name))

    def _timed(self, func_name, options):
        return self.executor.time_runs(*options) if func_name == "run" else None

    FUNCTIONS = {
        "run": lambda self: self.executor.run(), "set_input": set_input, "set_input_zero_copy": set_input_zero_copy,
        "get_input": lambda self, key: self.executor.input(self.input_index(key)),
        "get_output": lambda self, index: self.output(index),
        "get_num_inputs": lambda self: self.executor.num_inputs, "get_num_outputs": lambda self: self.executor.num_outputs,
        "get_input_index": lambda self, name: self._inputs.get(name, -1), "get_input_info": input_info,
        "load_params": load_params, "share_params": share_params}


def require_code_for(devices, graph_json):
    """Raises TVMError for a device, other than the host, that a plan does not use."""
    require_parts_on(devices, lambda: core.plan_devices(graph_json))


def require_parts_on(devices, types):
    """The same for a model that uses devices of `types()`."""
    if all(each is None or each.device_type == 1 for each in devices):
        return
    used = types()
    for each in devices:
        if each is not None and each.device_type not in (1, *used):
            raise core.TVMError(f"{each!r} has no part of this model: it was not built for it")


class DeviceModule(Module):
    """The code of a model for one kind of device. `get_source()` is the text that the device's driver compiles."""

    def __init__(self, backend, blob):
        super().__init__(backend)
        self._blob = blob

    def get_source(self, fmt=""):
        """PTX of "cuda", OpenCL C of "opencl": of all kernels, one after the other. NotImplementedError for other backends."""
        source = core.device_source(self.type_key, self._blob)
        if source is None:
            raise NotImplementedError(f"Module.get_source: the code for {self.type_key} is no text")
        return source


class FactoryModule(Module):
    """Compiled kernels and their plan. `module["default"](device)` creates an executor."""

    def __init__(self, source, mod_name, type_key="GraphExecutorFactory"):
        super().__init__(type_key, mod_name)
        self._source = source

    def _find(self, name):
        return FactoryModule._create if name == self.entry_name else self.FUNCTIONS.get(name)

    @property
    def graph_json(self):
        """The plan."""
        return self._source.graph_json

    @property
    def params(self):
        """The constants by the plan's names."""
        return self._source.params

    @property
    def imported_modules(self):
        """The code for devices other than the processor, a DeviceModule for each."""
        return [DeviceModule(backend, blob) for backend, blob in self._source.device_code()]

    def executor_of(self, graph_json):
        """An executor of another plan over these kernels; its constants are inputs. Baton's own."""
        return self._source.executor_of(graph_json)

    def queue_executor(self, instances, threads):
        """An executor with devices and links side by side: baton.side_by_side. Baton's own."""
        return self._source.queue_executor(instances, threads)

    @property
    def result(self):
        """What core.build returned; None for a module from a file."""
        return self._source.result

    @property
    def is_dso_exportable(self):
        """Whether export_library() can write it: yes."""
        return True

    def _create(self, *devices):
        require_devices(devices)
        require_code_for(devices, self.graph_json)
        return GraphExecutorModule(self._source.new_executor(), self.graph_json, self)

    def _debug_create(self, mod_name, *devices):
        if mod_name != self.entry_name:
            raise ValueError(f"the library was built under the name {self.entry_name!r}, not {mod_name!r}")
        return self._create(*devices)

    FUNCTIONS = {"debug_create": _debug_create, "get_graph_json": lambda self: self.graph_json,
                 "get_graph_params": lambda self: self.params}

    def export_library(self, file_name, fcompile=None, addons=None, workspace_dir=None, **kwargs):
        if addons:
            raise NotImplementedError("export_library: addons are not provided")
        self._source.write(os.fspath(file_name))


class BuiltSource:
    """The source of a FactoryModule: a build."""

    def __init__(self, result):
        self.result, self.graph_json = result, result.graph_json

    params = property(lambda self: self.result.params, doc="Constants by name.")

    def device_code(self):
        """(backend, blob) of each backend but the processor's."""
        return self.result.device_code

    def new_executor(self):
        """An executor with memory of its own."""
        return self.result.make_executor()

    def executor_of(self, graph_json):
        """An executor of another plan."""
        return self.result.executor_of_graph(graph_json)

    def queue_executor(self, instances, threads):
        """An executor with devices and links side by side."""
        return core.queue_executor_of_build(self.result, instances, threads)

    def write(self, path):
        """Writes an artifact."""
        self.result.write_artifact(path)


class FileSource:
    """The source of a FactoryModule: a file."""

    result = None

    def __init__(self, path, verify=True):
        self._path, self._model = path, core.load_model(path, verify)
        self.graph_json = self._model.section("graph.json").decode()

    params = property(lambda self: self._model.params, doc="Constants by name.")
    mod_name = property(lambda self: json.loads(self._model.section("meta.json") or b"{}").get("mod_name", "default"),
                        doc="The name the module was built under.")

    def device_code(self):
        """(backend, blob) of each backend but the processor's."""
        return self._model.device_code

    def new_executor(self):
        """An executor with memory of its own."""
        return self._model.another_executor()

    def executor_of(self, graph_json):
        """An executor of another plan."""
        return self._model.executor_of_graph(graph_json)

    def queue_executor(self, instances, threads):
        """An executor with devices and links side by side."""
        return core.queue_executor_of_model(self._model, instances, threads)

    def write(self, path):
        """Copies the file."""
        import shutil

        if not os.path.exists(path) or not os.path.samefile(self._path, path):
            shutil.copyfile(self._path, path)


def load_module(path, fmt="", verify=True):
    """A Module from a file of export_library or `baton build`: one that creates executors, or for a program of the virtual
    machine what runtime.vm.Executable and VirtualMachine take. Raises TVMError for anything else, and for a damaged file;
    `verify=False` does not look at the constants, which are then read when they are first used."""
    path = os.fspath(wanted("path", path, (str, bytes, os.PathLike), "a path"))
    artifact = core.Artifact(path, False)
    if "program" in artifact.sections:
        return ExecutableModule(ProgramCode.of_file(core.Artifact(path) if verify else artifact))
    source = FileSource(path, bool(verify))
    return FactoryModule(source, source.mod_name)


def enabled(target):
    """Whether programs for that target, as "llvm", "cpu" or "cuda -arch=sm_80", can be built and run here: its device is there."""
    words = str(target).split()
    if not words:
        return False
    return words[0] in ("cpu", "c") or (words[0] in core.backend_kinds() and Device(str(target)).exist)


def num_threads():
    """How many threads kernels use: $TVM_NUM_THREADS (or $BATON_NUM_THREADS), else the processors this process may use."""
    return core.num_threads()


def system_lib():
    """Not provided: Baton's kernels come from builds and files, none is linked into the interpreter."""
    raise NotImplementedError("system_lib: no kernels are linked into the interpreter; use load_module")


def load_static_library(path, func_names):
    """Not provided: use load_module."""
    raise NotImplementedError("load_static_library: Baton links nothing; use load_module")
