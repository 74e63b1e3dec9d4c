"""Programs for the virtual machine: control flow, functions, data types, references, shapes that are known at run time."""
from ..._load import core
from ...ir import IRModule  # noqa: F401 -- a name of this module in TVM, as Target is
from ...runtime import cpu
from ...runtime import vm as vm_rt
from ...runtime.executable import ProgramCode
from ...target import Target  # noqa: F401
from .. import _building
from .interpreter import Executor, with_own_names


def compile(mod, target=None, target_host=None, params=None):  # pylint: disable=redefined-builtin
    """A runtime.vm.Executable of a module.

    `params` (arrays by name) become constants. `target`: one, a list, or a dict by device type; with several, values are placed
    as PlanDevices does, and control stays on the host. Kernels with shapes that are known at run time only are the processor's.
    Raises DiagnosticError for a wrong program, ValueError without a target or without `main`.
    """
    compiler = VMCompiler()
    if params:
        compiler.set_params(params)
    compiler.lower(mod, target, target_host)
    compiler.codegen()
    return compiler.get_exec()


class VMCompiler:
    """compile(), step by step."""

    def __init__(self):
        self._params, self._code = {}, None

    def set_params(self, params):
        """Arrays by name; they become constants."""
        self._params = dict(params)

    def get_params(self):
        """Constants of what was compiled, by name."""
        return dict(self._code.constants) if self._code else dict(self._params)

    def lower(self, mod, target=None, target_host=None):
        """Makes the program and its kernels."""
        targets = _building._targets_of(target, target_host)  # pylint: disable=protected-access
        texts = _building._texts(targets)  # pylint: disable=protected-access
        mod = _building._module_of(mod)  # pylint: disable=protected-access
        if "main" not in [each.name_hint for each in mod.get_global_vars()]:
            raise ValueError("vm.compile: the module has no function main")
        params = _building._native(self._params)  # pylint: disable=protected-access
        self._code = ProgramCode.of_build(core.build_program(mod, params, *texts, "vm_mod"))

    def codegen(self):
        """Nothing is left to do after lower()."""
        self._lowered()

    def optimize(self, mod, target=None, target_host=None, params=None):
        """(module, params) as kernels are made from it."""
        if params:
            self.set_params(params)
        return _building.optimize(mod, target, self._params)[0], self._params

    def get_exec(self):
        """The Executable."""
        return vm_rt.Executable(self._lowered())

    def _lowered(self):
        if self._code is None:
            raise core.TVMError("VMCompiler: lower() has not been called")
        return self._code


class VMExecutor(Executor):
    """Kind "vm" of create_executor. `executable` and `vm` are what `mod` was compiled to (None until then)."""

    EVALUATES = True

    def __init__(self, mod, device, target, params=None):
        if mod is None:
            raise RuntimeError("Must provide module to get VM executor.")
        super().__init__(mod, device, target, params)
        self.executable = self.vm = None

    def _caller(self, module, shared):
        names = [each.name_hint for each in module["main"].params]
        machine = self._compiled(module, {name: value for name, value in self.params.items() if name in names})
        free = machine.executable.get_function_params("main")
        return lambda args, kwargs: machine.invoke("main", *self._given(free, args, kwargs, shared))

    def _runner(self, module, params):
        machine = self._compiled(module, params)
        names = machine.executable.get_function_params("main")

        def run(values):
            machine.invoke_stateful("main", **{name: values[name] for name in names})
            return machine.get_outputs()

        return run

    def _compiled(self, module, params):
        machine = vm_rt.VirtualMachine(compile(module, self.target, params=params), cpu(0) if self.device is None else self.device)
        if self.executable is None:
            self.executable, self.vm = machine.executable, machine
        return machine
