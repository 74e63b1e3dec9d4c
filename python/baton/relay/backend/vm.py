"""Programs for the virtual machine: control flow, functions, data types, references, shapes that are known at run time."""
from ..._load import core
from ...error import NotSupported
from ...ir import IRModule  # noqa: F401 -- a name of this module in TVM, as Target is
from ...runtime import cpu
from ...runtime import vm as vm_rt
from ...runtime.executable import ProgramCode
from ...runtime.plans import PlanCode
from ...target import Target  # noqa: F401
from .. import _building
from ..function import Function
from .interpreter import Executor, with_own_names


def compile(mod, target=None, target_host=None, params=None):  # pylint: disable=redefined-builtin
    """A runtime.vm.Executable of a module: of any program whose kernels run on the processor.

    `params` (arrays by name) become constants. With targets that are other devices, it has `main` and the other functions that
    stand for themselves, which must be straight-line functions of constant shapes: otherwise NotImplementedError (NotSupported).
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
        self._code = ProgramCode.of_build(core.build_program(mod, params, *texts, "vm_mod")) if _is_of_processor(targets) \
            else _plans(mod, params, texts)

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


def _is_of_processor(targets):
    """Whether kernels for these targets run on the processor: "llvm", and those of regions such as "dnnl"."""
    return all(core.target_device_type(each) == 1 for each in _building._texts(targets)[0])  # pylint: disable=protected-access


def _plans(mod, params, texts):
    """The functions that stand for themselves, each as a plan."""
    from .. import transform

    typed = transform.InferType()(mod)
    results, names = {}, {}
    for name in _entries(typed):
        module = typed.copy()
        module["main"] = typed[name]
        bound = params if name == "main" else {}
        try:
            results[name] = core.build(module, bound, *texts, "vm_mod")
        except NotSupported as why:
            raise NotSupported("vm.compile takes straight-line functions of constant shapes for devices other than the processor; "
                               f"@{name}: {why}") from why
        names[name] = [each.name_hint for each in typed[name].params if each.name_hint not in bound]
    return PlanCode.of_builds(results, names)


def _entries(mod):
    """main, and functions of the module that nobody calls, have no type parameters and are no kernels or regions."""
    names = [each.name_hint for each in mod.get_global_vars()]
    calls = core.FunctionCalls(mod)
    called = {each for name in names for each in calls.callees(name)}
    return ["main"] + [name for name in names if name != "main" and name not in called and _stands_alone(mod[name])]


def _stands_alone(function):
    attrs = function.attrs or {}
    return isinstance(function, Function) and not function.type_params and not any(
        key in attrs for key in ("Compiler", "Primitive", "Extern"))


class VMExecutor(Executor):
    """Kind "vm" of create_executor. `executable` and `vm` are what `mod` was compiled to (None until then).

    With targets that are other devices, what is no plan is interpreted.
    """

    EVALUATES = True

    def __init__(self, mod, device, target, params=None):
        if mod is None:
            raise RuntimeError("Must provide module to get VM executor.")
        super().__init__(mod, device, target, params)
        self.executable = self.vm = None

    def _caller(self, module, shared):
        if not _is_of_processor(_building._targets_of(self.target, None)):  # pylint: disable=protected-access
            return super()._caller(module, shared)
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
