"""Functions compiled for a virtual machine, each as a plan: those of builds with other devices than the processor."""
import json
import os
import shutil
import tempfile

from .._load import core
from . import ndarray
from .executable import Code, Run, nested, short_name
from .module import BuiltSource, FactoryModule, FileSource
from .profiling import report_of

_NO_PROGRAM = "an executable with parts on other devices runs its functions by their plans"


class _Entry:
    """A function: where its plan and kernels come from, its parameters' names, and the shape of what it returns."""

    def __init__(self, source, params, result):
        self.source, self.params, self.result = source, params, result

    @property
    def graph(self):
        """The plan, read."""
        return json.loads(self.source.graph_json)


class PlanCode(Code):
    """Straight-line functions of constant shapes, {name: _Entry}."""

    def __init__(self, entries):
        self._entries = entries
        self.functions = {name: list(entry.params) for name, entry in entries.items()}
        self.result = entries["main"].source.result

    @classmethod
    def of_builds(cls, results, params):
        """Of builds, {name: BuildResult}; `params`: names of parameters, by function."""
        return cls({name: _Entry(BuiltSource(built), params[name], _nesting(built.optimized["main"].ret_type))
                    for name, built in results.items()})

    @property
    def kernels(self):
        """Their names."""
        names = {}
        for entry in self._entries.values():
            for node in entry.graph["nodes"]:
                if node["op"] != "null" and not node["attrs"]["func_name"].startswith("__"):
                    names[node["attrs"]["func_name"]] = None
        return list(names)

    @property
    def constants(self):
        """{name: NDArray}, those of other functions than main under "function/name"."""
        return {name if function == "main" else f"{function}/{name}": value for function, entry in self._entries.items()
                for name, value in entry.source.params.items()}

    @property
    def lib(self):
        """The plan and kernels of main."""
        return FactoryModule(self._entries["main"].source, "vm_mod")

    def listing(self):
        """Not provided: functions run by their plans."""
        raise NotImplementedError(f'Executable.bytecode: {_NO_PROGRAM} (`lib["get_graph_json"]()`)')

    def start(self, name):
        """A Run of a function."""
        return PlanRun(name, self.function(name), self._entries[name])

    def facts(self):
        """(what save() says of it, further bytes: the functions beside main, whose plan and kernels are in the library)."""
        facts, files = [], b""
        with tempfile.TemporaryDirectory() as folder:
            for name, entry in self._entries.items():
                content = b""
                if name != "main":
                    path = os.path.join(folder, "entry")
                    entry.source.write(path)
                    with open(path, "rb") as file:
                        content = file.read()
                facts.append({"name": name, "params": entry.params, "result": entry.result, "bytes": len(content)})
                files += content
        return {"kind": "plans", "functions": facts}, files

    @classmethod
    def of_facts(cls, facts, files, lib):
        """The inverse of facts(). ValueError when `lib` has no plan."""
        if not isinstance(lib, FactoryModule):
            raise ValueError("the library is that of a program")
        entries, at = {}, 0
        for fact in facts["functions"]:
            content, at = files[at:at + fact["bytes"]], at + fact["bytes"]
            source = lib._source if fact["name"] == "main" else _source_of(content)  # pylint: disable=protected-access
            entries[fact["name"]] = _Entry(source, fact["params"], fact["result"])
        return cls(entries)

    def write(self, path):
        """Not provided: save() gives the functions beside main."""
        raise NotImplementedError(f"export_library: {_NO_PROGRAM}: use Executable.save(), and export_library of the library")

    def take_constants(self, byte_limit):
        """Not provided: constants are part of the library's file, which maps them without reading them."""
        raise NotImplementedError(f"late-bound constants: {_NO_PROGRAM}, and constants are part of the file of the library")

    give_constants = take_constants


def _nesting(ty):
    fields = getattr(ty, "fields", None)
    return None if fields is None else [_nesting(each) for each in fields]


class PlanRun(Run):
    """A function's executor."""

    def __init__(self, name, params, entry):
        from ..contrib.graph_executor import GraphModule

        super().__init__(name, params)
        self._model, self._result = GraphModule(FactoryModule(entry.source, "vm_mod")["vm_mod"](None)), entry.result

    def set(self, index, value):
        """Sets a parameter; parameters that are not used are ignored."""
        value = value.data if isinstance(value, core.Constant) else value
        name = self.params[index]
        if self.params.count(name) == 1:
            if self._model.get_input_index(name) >= 0:
                self._model.set_input(name, value)
            return
        executor = self._model.module.executor
        inputs = [i for i in range(executor.num_inputs) if executor.input_name(i) == name]
        if len(inputs) != self.params.count(name):
            raise ValueError(f"{self.name} has {self.params.count(name)} parameters {name!r} and uses {len(inputs)} of them: "
                             "which one is meant cannot be said")
        self._model.set_input(inputs[self.params[:index].count(name)], value)

    def run(self):
        """The value of the function."""
        self._model.run()
        outputs = [ndarray.array(self._model.get_output(i)) for i in range(self._model.get_num_outputs())]
        return nested(self._result, iter(outputs))

    def time(self, device, options):
        """Seconds per call, a list of one per burst."""
        return self._model.module.time_evaluator("run", device, *options)().results

    def profile(self, threads, warm_up=3):
        """A Report of one run."""
        module = self._model.module
        total_ns, node_ns = module.executor.profile(warm_up)
        return report_of(json.loads(module.graph_json), total_ns, node_ns, threads, "VM", short_name)


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
