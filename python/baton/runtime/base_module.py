"""The base of modules: functions by name."""
import functools

from .._load import core
from .benchmark import BenchmarkResult
from .device import require_devices
from .packed_func import PackedFunc


class Module:
    """A set of functions by name: `module["name"]`. `type_key` is the kind: "llvm" (kernels and their plan),
    "GraphExecutorFactory" (creates executors), "GraphExecutor" (one model with its own memory), "VMExecutable" (functions for a
    virtual machine)."""

    FUNCTIONS = {}  # by name, called with the module first: bound methods stored here would create a reference cycle

    def __init__(self, type_key, entry_name=None):
        self._type_key, self.entry_name = type_key, entry_name

    @property
    def type_key(self):
        """The kind of module, a str."""
        return self._type_key

    @property
    def format(self):
        """The file format: "baton", one file that runs without the compiler."""
        return "baton"

    @property
    def imported_modules(self):
        """Modules below this one; FactoryModule has those of devices."""
        return []

    @property
    def is_dso_exportable(self):
        """Whether export_library() can write it."""
        return False

    @property
    def entry_func(self):
        """The function called by calling the module."""
        return self.get_function(self.entry_name or "__tvm_main__")

    def _find(self, name):
        """The function of that name with the module as its first argument, or None."""
        return self.FUNCTIONS.get(name)

    def implements_function(self, name, query_imports=False):
        """Whether there is a function of that name."""
        return self._find(name) is not None

    def get_function(self, name, query_imports=False):
        """The function of that name, a PackedFunc. Raises AttributeError when there is none."""
        found = self._find(name)
        if found is None:
            known = ", ".join(sorted({*self.FUNCTIONS, *([self.entry_name] if self.entry_name else [])})) or "none"
            raise AttributeError(f"Module has no function {name!r} (functions: {known})")
        return PackedFunc(functools.partial(found, self), name=name)

    def __getitem__(self, name):
        if not isinstance(name, str):
            raise ValueError("Can only take string as function name")
        return self.get_function(name)

    def __call__(self, *args):
        return self.entry_func(*args)

    def import_module(self, module):
        """Not provided: kernels of one model are one library."""
        raise NotImplementedError("Module.import_module: Baton links all kernels of a model into one library")

    def get_source(self, fmt=""):
        """The source of the kernels. Halide makes machine code directly: there is none."""
        raise NotImplementedError("Module.get_source: Baton's kernels have no source text; "
                                  "`baton explain` shows what each kernel computes and how")

    def save(self, file_name, fmt=""):
        """Writes one file that load_module opens."""
        self.export_library(file_name)

    def export_library(self, file_name, fcompile=None, addons=None, workspace_dir=None, **kwargs):
        """Writes one file that load_module, `baton run` and the C interface open without the compiler.

        Needs no compiler or linker, so `fcompile`, `workspace_dir` and options are not used.
        """
        raise core.TVMError(f"a module of kind {self.type_key} cannot be written")

    def time_evaluator(self, func_name, dev, number=10, repeat=1, min_repeat_ms=0, limit_zero_time_iterations=100,
                       cooldown_interval_ms=0, repeats_to_cooldown=1, f_preproc="", cache_flush_bytes=0):
        """A function that calls `func_name` with its arguments many times and returns a BenchmarkResult (seconds per call).

        One call to warm up, then `repeat` bursts of `number` calls; a burst grows until it takes `min_repeat_ms`.
        """
        if f_preproc or cache_flush_bytes:
            raise NotImplementedError("time_evaluator: f_preproc and cache_flush_bytes are not provided")
        require_devices(dev)
        function = self.get_function(func_name)
        options = (number, repeat, min_repeat_ms, limit_zero_time_iterations, cooldown_interval_ms, repeats_to_cooldown)

        def evaluator(*args):
            timed = self._timed(func_name, options) if not args else None
            return BenchmarkResult(timed or core.time_bursts(lambda: function(*args), *options))

        return evaluator

    def _timed(self, func_name, options):
        """Seconds per burst measured without Python in between, or None."""
        return None

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return id(self)

    def __repr__(self):
        return f"Module({self.type_key}, {id(self):x})"
