"""The Relay VM's names. Programs without control flow run by their plans; there is no bytecode yet."""
from ..._load import core
from ...error import NotSupported
from ...ir import IRModule
from ...runtime import vm as vm_rt
from ...target import Target
from .. import _building
from ..function import Function
from .interpreter import Executor


def compile(mod, target=None, target_host=None, params=None):  # pylint: disable=redefined-builtin
    """A runtime.vm.Executable of a module: of `main` and of the other functions that stand for themselves.

    Raises NotImplementedError (NotSupported) for control flow, algebraic types, references, recursion and shapes that are
    not static.
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
        self._params, self._results, self._names = {}, None, {}

    def set_params(self, params):
        """Arrays by name; they become constants."""
        self._params = dict(params)

    def get_params(self):
        """Constants of what was compiled, by name."""
        return dict(self._results["main"].params) if self._results and "main" in self._results else dict(self._params)

    def lower(self, mod, target=None, target_host=None):
        """Makes kernels."""
        targets = _building._texts(_building._targets_of(target, target_host))  # pylint: disable=protected-access
        mod = _building._module_of(mod)  # pylint: disable=protected-access
        from .. import transform

        typed = transform.InferType()(mod)
        params = _building._native(self._params)  # pylint: disable=protected-access
        results = {}
        for name in _entries(typed):
            module = typed.copy()
            module["main"] = typed[name]
            free = [each.name_hint for each in typed[name].params if each.name_hint not in params]
            try:
                results[name] = core.build(module, params if name == "main" else {}, *targets, "vm_mod")
            except NotSupported as why:
                raise NotSupported(f"vm.compile and the VM's profiler take straight-line functions of constant shapes; @{name}: {why}\n"
                                   '  relay.create_executor("vm") runs such programs too, operator by operator and without a clock') from why
            self._names[name] = free if name == "main" else [each.name_hint for each in typed[name].params]
        self._results = results

    def codegen(self):
        """Nothing is left to do after lower()."""
        if self._results is None:
            raise core.TVMError("VMCompiler: lower() has not been called")

    def optimize(self, mod, target=None, target_host=None, params=None):
        """(module, params) as kernels are made from it."""
        if params:
            self.set_params(params)
        return _building.optimize(mod, target, self._params)[0], self._params

    def get_exec(self):
        """The Executable."""
        if self._results is None:
            raise core.TVMError("VMCompiler: lower() has not been called")
        return vm_rt.Executable(vm_rt.built_functions(self._results, self._names))


def _entries(mod):
    """main, and functions of the module that have no type parameters and are no kernels or regions."""
    names = [each.name_hint for each in mod.get_global_vars()]
    if "main" not in names:
        raise ValueError("vm.compile: the module has no function main")
    calls = core.FunctionCalls(mod)
    called = {each for name in names for each in calls.callees(name)}
    return ["main"] + [name for name in names if name != "main" and name not in called and _stands_alone(mod[name])]


def _stands_alone(function):
    attrs = function.attrs or {}
    return isinstance(function, Function) and not function.type_params and not any(
        key in attrs for key in ("Compiler", "Primitive", "Extern"))


class VMExecutor(Executor):
    """Kind "vm" of create_executor. `executable` and `vm` are what `mod` was compiled to (None until then)."""

    EVALUATES = True

    def __init__(self, mod, device, target, params=None):
        if mod is None:
            raise RuntimeError("Must provide module to get VM executor.")
        super().__init__(mod, device, target, params)
        self.executable = self.vm = None

    def _runner(self, module, params):
        from ...runtime import cpu

        executable = compile(module, self.target, params=params)
        machine = vm_rt.VirtualMachine(executable, cpu(0) if self.device is None else self.device)
        if self.executable is None:
            self.executable, self.vm = executable, machine
        names = executable.get_function_params("main")

        def run(values):
            machine.set_input("main", **{name: values[name] for name in names})
            machine.invoke_stateful("main")
            return machine.get_outputs()

        return run
