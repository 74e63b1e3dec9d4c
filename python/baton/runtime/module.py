"""What a build made, ready to be run or written to a file."""
from .._load import core

from .ndarray import require_host


class Instance:
    """One model with memory of its own, made by `lib["default"](device)`. contrib.graph_executor.GraphModule runs it."""

    def __init__(self, executor, keep=None):
        self.executor = executor
        self._keep = keep


class Module:
    """Compiled kernels and their plan. `module["default"](device)` makes something to run."""

    def __init__(self, new_executor, write, mod_name="default"):
        self._new_executor, self._write, self._mod_name = new_executor, write, mod_name

    def __getitem__(self, name):
        if name != self._mod_name:
            raise AttributeError(f"Module has no function {name!r}, only {self._mod_name!r}")

        def create(device=None, *more):
            require_host(device)
            return Instance(self._new_executor(), self)

        return create

    get_function = __getitem__

    def export_library(self, file_name, *args, **kwargs):
        """Writes one file that runtime.load_module, `baton run` and the C interface open without the compiler."""
        if self._write is None:
            raise core.TVMError("this module was loaded from a file: copy that")
        self._write(str(file_name))


def load_module(path, fmt=""):
    """A Module from a file of export_library or `baton build`. Raises TVMError for anything else."""
    model = core.load_model(str(path))
    return Module(model.another_executor, None)
