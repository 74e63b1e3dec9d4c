"""Functions compiled for a virtual machine, as a program: what runtime.vm.Executable has, runs and writes."""
import hashlib
import json
import os

from .._load import core
from . import ndarray
from .base_module import Module
from .profiling import report_of_program

_LATE = "late_constants.json"  # the section of a file that says which constants are not in it


def short_name(kernel):
    """The name of a kernel without the prefix of its symbol."""
    return kernel[len("tvmgen_"):] if kernel.startswith("tvmgen_") else kernel


def value_for(name, ty, value):
    """`value` as the parameter `name` takes it: arrays and numbers are cast to its dtype, tuples field by field.

    `ty`: a type of Relay, or core.ParameterType. Where it says nothing, numbers become int32 or float32. Raises TypeError and
    ValueError that say `name`; for tuples UsageError, which is both a ValueError and a TVMError.
    """
    dtype = getattr(ty, "dtype", None)
    if dtype is not None and isinstance(value, core.NDArray) and value.dtype == dtype:
        return value
    if isinstance(value, core.Constant):
        value = value.data
    fields = getattr(ty, "fields", None)
    if fields is not None:
        given = value.fields if isinstance(value, core.Tuple) else value
        if not isinstance(given, (list, tuple)) or len(given) != len(fields):
            raise core.UsageError(f"argument {name}: a tuple of {len(fields)} values is expected")
        return [value_for(f"{name}.{i}", each, one) for i, (each, one) in enumerate(zip(fields, given))]
    if isinstance(value, (core.ConstructorValue, core.RefValue, core.Closure)):
        return value
    if isinstance(value, core.RelayExpr) and not isinstance(value, core.Tuple):
        raise TypeError(f"argument {name}: a value is expected, not the expression {type(value).__name__}")
    if dtype is not None:
        return ndarray.typed(value, dtype, f"argument {name}")
    if isinstance(value, (int, float)):
        return ndarray.typed(value, "float32" if isinstance(value, float) else "int32", f"argument {name}")
    return value


class ProgramCode:
    """Functions as a program of the virtual machine (src/baton/runtime/vm). `source`: the BuildResult or core.Artifact that it
    comes from; `late`: {name: [dtype, shape]} of constants that are not here yet."""

    def __init__(self, program, source, late=None):
        self.program, self._source, self.late = program, source, late or {}
        self._changed = False  # whether its constants are not those of `source`
        self._types = {name: types for name, _, types in program.functions}
        self.functions = {name: list(params) for name, params, _ in program.functions}
        self.result = None if isinstance(source, core.Artifact) else source

    @classmethod
    def of_build(cls, built):
        """Of what core.build_program returned."""
        return cls(core.RunnableProgram(built), built)

    @classmethod
    def of_file(cls, artifact):
        """Of an opened file. TVMError for one that holds no program, or is damaged."""
        try:
            late = json.loads(artifact.section(_LATE) or "{}")
        except ValueError as why:
            raise core.TVMError(f"the file is damaged: {_LATE}: {why}") from why
        return cls(core.RunnableProgram.load(artifact), artifact, late)

    device_types = property(lambda self: self.program.device_types, doc="DLPack's numbers of devices beside the host.")
    kernels = property(lambda self: self.program.kernels, doc="Their names.")
    operators = property(lambda self: self.program.operators, doc="Names of what the compiler evaluates while the program runs.")
    constants = property(lambda self: self.program.constants, doc="{name: NDArray}; those that are late have no elements.")
    lib = property(lambda self: ExecutableModule(self), doc="The program, its kernels and constants, as a Module.")

    def listing(self):
        """The instructions, in TVM's form."""
        return self.program.listing()

    def function(self, name):
        """The names of a function's parameters. ValueError when there is none of that name."""
        if name not in self.functions:
            raise ValueError(f"the executable has no function {name!r}, only {', '.join(self.functions)}")
        return self.functions[name]

    @property
    def kernel_names(self):
        """The kernels as TVM names them: without the prefix of symbols."""
        return [short_name(each) for each in self.kernels]

    @property
    def stats(self):
        """A text: constants, functions, kernels."""
        shapes = ["scalar" if not each.shape else str(list(each.shape)) for each in self.constants.values()]
        functions = ", ".join(f'("{name}", {i})' for i, name in enumerate(self.functions))
        return ("Relay VM executable statistics:\n"
                f"  Constant shapes (# {len(shapes)}): [{', '.join(shapes)}]\n"
                f"  Globals (#{len(self.functions)}): [{functions}]\n"
                f"  Primitive ops (#{len(self.kernels)}): [{', '.join(self.kernel_names)}]\n")

    def start(self, name):
        """A ProgramRun of a function."""
        return ProgramRun(self, name)

    def types(self, name):
        """The types of a function's parameters."""
        return self._types[name]

    @property
    def mark(self):
        """What tells this program from others: a hash of its instructions and of the names of its kernels."""
        return hashlib.sha256(json.dumps([self.listing(), self.kernels, self.functions]).encode()).hexdigest()

    def specialize(self, after_ms):
        """Executable.specialize_in_background()."""
        if after_ms is not None and self.result is None:
            raise core.TVMError("specialize_in_background: the program was read from a file, which has kernels and not the functions "
                                "that they were compiled from: compile the module with relay.vm.compile, or name extents when "
                                "building (baton build --specialize n=1,128)")
        self.program.specialize(self.result if after_ms is not None else None, after_ms or 0)

    def specialized(self, wait):
        """Executable.specialized()."""
        self.program.wait_for_specialized(wait)
        return [(short_name(kernel), extents, why) for kernel, extents, why in self.program.specialized]

    def facts(self):
        """(what save() says of it, further bytes)."""
        return {"kind": "program", "functions": self.functions, "mark": self.mark}, b""

    @classmethod
    def of_facts(cls, facts, _, lib):
        """The inverse of facts(). ValueError when `lib` is of another program."""
        code = lib.code if isinstance(lib, ExecutableModule) else None
        if not isinstance(code, cls) or code.mark != facts["mark"]:
            raise ValueError("the library is that of another program")
        return code

    def write(self, path):
        """Writes one file that load_module opens."""
        if isinstance(self._source, core.Artifact) or self._changed:
            import tempfile  # on demand, to keep `import baton` fast

            with tempfile.TemporaryDirectory() as folder:
                artifact = self._source
                if not isinstance(artifact, core.Artifact):
                    artifact.write_artifact(os.path.join(folder, "program"))
                    artifact = core.Artifact(os.path.join(folder, "program"), False)
                artifact.write_changed(path, self.constants, {_LATE: json.dumps(self.late)} if self._changed or self.late else {})
        else:
            self._source.write_artifact(path)

    def take_constants(self, byte_limit):
        """{name: NDArray} of the constants of at least so many bytes, which the program then waits for."""
        taken = {name: each for name, each in self.constants.items()
                 if name not in self.late and each.numpy().nbytes >= byte_limit}
        self._replace({name: ndarray.empty((0,), each.dtype) for name, each in taken.items()})
        self.late.update({name: [each.dtype, list(each.shape)] for name, each in taken.items()})
        return taken

    def give_constants(self, values):
        """Sets constants that the program waits for. TVMError for other types; other names are ignored."""
        given = {name: ndarray.to_native(value) for name, value in values.items() if name in self.late}
        for name, value in given.items():
            dtype, shape = self.late[name]
            if value.dtype != dtype or list(value.shape) != shape:
                raise core.TVMError(f"the constant {name} is {value.dtype}{list(value.shape)}, expected {dtype}{shape}")
        self._replace(given)
        for name in given:
            del self.late[name]

    def _replace(self, values):
        if values:
            self.program, self._changed = self.program.with_constants(values), True


class ProgramRun:
    """The parameters of a function of a program, and its calls."""

    def __init__(self, code, name):
        self.name, self.params = name, code.function(name)
        self._code, self._types, self._of = code, code.types(name), code.program
        self._call = core.ProgramCall(code.program, name)

    def set(self, index, value):
        """Sets a parameter; values are cast to its dtype. TypeError, ValueError for what cannot be."""
        call = self._current()
        if not call.set(index, value):
            call.put(index, value_for(self.params[index], self._types[index], value))

    def set_all(self, args, kwargs):
        """Sets all parameters, by position or name; values of other names are ignored. ValueError for another number."""
        names = self.params
        if not kwargs and self._current().set_all(args):
            return
        known = sum(name in kwargs for name in names) if kwargs else 0
        if len(args) + known != len(names):
            unknown = "".join(f"; it has no parameter {name!r}" for name in kwargs if name not in names)
            raise ValueError(f"{self.name} takes {len(names)} arguments ({', '.join(names)}), "
                             f"{len(args) + known} were given{unknown}")
        rest = iter(args)
        for index, name in enumerate(names):
            self.set(index, kwargs[name] if name in kwargs else next(rest))

    def index_of(self, key):
        """The number of a parameter, given by name or number. ValueError, IndexError, TypeError when there is none."""
        if isinstance(key, str):
            if key not in self.params:
                raise ValueError(f"{self.name} has no parameter {key!r}, only {', '.join(self.params)}")
            return self.params.index(key)
        if isinstance(key, bool) or not hasattr(key, "__index__"):
            raise TypeError(f"a parameter is given by its name or number, not by a {type(key).__name__}")
        if not 0 <= int(key) < len(self.params):
            raise IndexError(f"{self.name} has {len(self.params)} parameters, asked for {int(key)}")
        return int(key)

    def _current(self):
        """The call of the code's program, which is another one once constants were given."""
        if self._of is not self._code.program:
            before, self._of = self._call, self._code.program
            self._call = core.ProgramCall(self._of, self.name)
            self._call.take_values(before)
        return self._call

    def _ready(self):
        if self._code.late:
            raise core.TVMError(f"constants are bound late and not loaded: {', '.join(self._code.late)} (load_late_bound_consts)")
        return self._current()

    def run(self):
        """The value of the function. TVMError, which names the argument, for values that do not fit."""
        return self._ready().run()

    def time(self, _, options):
        """Seconds per call, a list of one per burst."""
        return core.time_bursts(self._ready().run, *options)

    def profile(self, threads, warm_up=3):
        """A Report of one run."""
        call = self._ready()
        for _ in range(warm_up):
            call.run()
        _, total_ns, rows, pieces, pieces_ns, copies = call.run_measured()
        nodes = json.loads(self._code.result.graph_json)["nodes"] if self._code.result else None
        return report_of_program(nodes, total_ns, rows, (pieces, pieces_ns), copies, threads, short_name)


class ExecutableModule(Module):
    """An executable as a Module: runtime.vm.Executable and VirtualMachine take it, export_library() writes it."""

    def __init__(self, code):
        super().__init__("VMExecutable")
        self.code = code

    result = property(lambda self: self.code.result, doc="What was built; None for a module from a file.")
    is_dso_exportable = property(lambda self: True, doc="Whether export_library() can write it: yes.")

    def export_library(self, file_name, fcompile=None, addons=None, workspace_dir=None, **kwargs):
        if addons:
            raise NotImplementedError("export_library: addons are not provided")
        self.code.write(os.fspath(file_name))

    FUNCTIONS = {
        "get_stats": lambda self: self.code.stats, "get_bytecode": lambda self: self.code.listing(),
        "get_primitives": lambda self: "\n".join(self.code.kernel_names), "get_primitive_ops": lambda self: self.code.kernel_names,
        "get_function_arity": lambda self, name: len(self.code.function(name)), "get_lib": lambda self: self.code.lib,
        "get_function_param_name": lambda self, name, index: self.code.function(name)[index]}


def flattened(value):
    """The arrays of a value, fields of tuples one after another."""
    return [one for each in value for one in flattened(each)] if isinstance(value, (list, tuple)) else [value]
