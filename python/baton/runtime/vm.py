"""Executables and virtual machines."""
import hashlib
import json
import os

from .._load import core
from .._wanted import listed, mapped, wanted
from . import container, ndarray
from .benchmark import BenchmarkResult
from .device import Device, require_devices
from .executable import ExecutableModule, ProgramCode, flattened
from .module import FactoryModule, Module, require_parts_on

RPC_SESS_MASK = 128
_MAGIC = b"BATONVM2"


def convert(args):
    """Arguments of a function as it takes them: a list of NDArrays, and of ADTs for tuples and lists."""
    def one(value):
        if isinstance(value, (list, tuple)):
            return container.ADT(0, [one(each) for each in value])
        return value if isinstance(value, (ndarray.NDArray, core.ConstructorValue, core.RefValue)) else ndarray.array(value)

    return [one(each) for each in listed("args", args)]


class TVMByteArray(bytes):
    """Bytes."""


class Executable:
    """Compiled functions, by name. Made by relay.vm.compile(), load_exec(), or of the Module that load_module() returns."""

    def __init__(self, mod):
        if isinstance(mod, (Executable, ExecutableModule)):
            mod = mod.code
        if not isinstance(mod, ProgramCode):
            raise TypeError(f"Executable: what relay.vm.compile or load_module returns is expected, not {type(mod).__name__}")
        self.code = mod

    @property
    def module(self):
        """A runtime.Module: what VirtualMachine takes and export_library() writes as one file."""
        return ExecutableModule(self.code)

    mod = module

    @property
    def lib(self):
        """The library that goes with the bytes of save(), a runtime.Module; export_library() writes it."""
        return self.code.lib

    result = property(lambda self: self.code.result, doc="The build of main; None for what was loaded. Baton's own.")

    def save(self):
        """(code, lib): bytes for load_exec(), and the library to go with them."""
        facts, more = self.code.facts()
        head = json.dumps(facts).encode()
        content = len(head).to_bytes(8, "little") + head + more
        return bytearray(_MAGIC + hashlib.sha256(content).digest() + content), self.lib

    @staticmethod
    def load_exec(bytecode, lib):
        """The Executable of what save() gave; `lib` may have been written to a file and loaded. TVMError for other bytes."""
        if isinstance(bytecode, (bytearray, memoryview)):
            bytecode = bytes(bytecode)
        if not isinstance(bytecode, bytes):
            raise TypeError(f"bytecode is expected to be the type of bytearray or TVMByteArray, but received {type(bytecode)}")
        if lib is not None and not isinstance(lib, (FactoryModule, ExecutableModule)):
            raise TypeError(f"lib is expected to be the type of tvm.runtime.Module, but received {type(lib)}")
        try:
            if not bytecode.startswith(_MAGIC):
                raise ValueError("it does not begin as such")
            begin = len(_MAGIC) + hashlib.sha256().digest_size
            content = bytecode[begin:]
            if hashlib.sha256(content).digest() != bytecode[len(_MAGIC):begin]:
                raise ValueError("it is damaged or not complete")
            end = 8 + int.from_bytes(content[:8], "little")
            facts = json.loads(content[8:end])
            if facts["kind"] != "program":
                raise ValueError(f"they hold {facts['kind']!r}, of an older version: compile it again")
            return Executable(ProgramCode.of_facts(facts, content[end:], lib))
        except (ValueError, KeyError, TypeError, AttributeError) as why:
            raise core.TVMError(f"load_exec: these bytes are no executable that save() wrote: {why}") from why

    @property
    def globals(self):
        """Names of the functions."""
        return sorted(self.code.functions)

    @property
    def primitive_ops(self):
        """Names of the kernels."""
        return self.code.kernel_names

    @property
    def primitives(self):
        """The kernels and the operators that the compiler evaluates at run time, by number: a text with a line for each."""
        names = [*self.code.kernel_names, *self.code.operators]
        return "".join(f"VM PackedFunc[{i}]: {name}\n" for i, name in enumerate(names))

    @property
    def constants(self):
        """A text with a line for each constant: its number, dtype and shape."""
        return "".join(f"VM Const[{i}]: {each.dtype}{list(each.shape)} on device index 0\n"
                       for i, each in enumerate(self.code.constants.values()))

    @property
    def virtual_devices(self):
        """A text with a line for each device: the host, and those that have a part of it."""
        return "".join(f"VM VirtualDevice[{i}]: device type {each}, id 0 and mem_scope \n"
                       for i, each in enumerate([1, *self.code.device_types]))

    @property
    def bytecode(self):
        """The instructions of all functions, a text."""
        return self.code.listing()

    @property
    def stats(self):
        """A text: constants, functions, kernels."""
        return self.code.stats

    def specialize_in_background(self, after_ms=500):
        """From now on compiles kernels for the lengths that are used most; returns self. Baton's own.

        Kernels of any length are within some percent of those of one length, and up to a third slower for short ones. Where
        extents are still met `after_ms` milliseconds after the first time, their kernels are compiled on one thread beside the
        program (and kept in the cache), and used from then on: results may then differ in their last bits. None: no longer.
        Without effect where all shapes are constant. Raises TVMError for what was read from a file, which has no functions to
        compile.
        """
        if after_ms is not None and (isinstance(after_ms, bool) or not isinstance(after_ms, (int, float)) or not after_ms >= 0):
            raise ValueError(f"after_ms is a number of milliseconds, or None, not {after_ms!r}")
        self.code.specialize(after_ms)
        return self

    def specialized(self, wait=0):
        """[(kernel, extents, why it was not compiled)] of the lengths that specialize_in_background() took up. `wait`: seconds
        to wait for those that are being compiled."""
        return self.code.specialized(wait)

    def get_function_params(self, func_name):
        """Names of a function's parameters."""
        return list(self.code.function(func_name))

    def move_late_bound_consts(self, path, byte_limit):
        """Writes the constants of at least `byte_limit` bytes to a file. The executable, and what is written of it, then waits
        for them (load_late_bound_consts)."""
        content = core.save_params(self.code.take_constants(_limit(byte_limit)))
        with open(os.fspath(path), "wb") as file:
            file.write(content)

    def get_late_bound_consts(self, byte_limit):
        """{name: NDArray} of the constants of at least `byte_limit` bytes, for which the executable then waits."""
        return self.code.take_constants(_limit(byte_limit))

    def load_late_bound_consts(self, path):
        """Gives the constants of a file that move_late_bound_consts() wrote. TVMError for a damaged or another one."""
        with open(os.fspath(path), "rb") as file:
            self.code.give_constants(core.load_params(file.read()))

    def load_late_bound_consts_from_map(self, map):  # pylint: disable=redefined-builtin
        """Gives constants: {name: array}. TVMError for other types than those that they had."""
        self.code.give_constants(dict(mapped("map", map, "a dict of arrays by name")))

    def __getitem__(self, name):
        return self.module[name]


def _limit(byte_limit):
    if isinstance(byte_limit, bool) or not hasattr(byte_limit, "__index__"):
        raise TypeError(f"byte_limit is a number of bytes, not {type(byte_limit).__name__}")
    return int(byte_limit)


class VirtualMachine:
    """Runs the functions of an executable. A machine is one thread's; several may share an executable.

    exe : Executable, or the Module of one
    device : a Device or a list; those that the executable needs are used, whichever are listed. TVMError for one that is not
        there, or has no part of it
    memory_cfg : "naive", "pooled", or a dict of these by device; it has no effect, memory is planned when the program is built
    """

    NAIVE_ALLOCATOR, POOLED_ALLOCATOR = 1, 2

    def __init__(self, exe, device, memory_cfg=None):
        if not isinstance(exe, (Executable, Module)):
            raise TypeError(f"exe is expected to be the type of Executable, but received {type(exe)}")
        if not isinstance(exe, (Executable, ExecutableModule)):
            raise TypeError("exe: a library alone says nothing of its functions: use Executable.load_exec(code, lib)")
        _check_memory(memory_cfg)
        self.executable, self._runs = exe if isinstance(exe, Executable) else Executable(exe), {}
        _require(device, self.executable.code)

    @property
    def module(self):
        """Itself."""
        return self

    def _run_of(self, func_name):
        """The state of a function, created on first use."""
        found = self._runs.get(func_name)
        if found is None:
            found = self._runs[func_name] = self.executable.code.start(func_name)
        return found

    def set_input(self, func_name, *args, **kwargs):
        """Sets all parameters of a function, by position or name. Values of names that it does not have are ignored.

        Values are NDArrays, numpy arrays, numbers, lists and tuples of them, ConstructorValues, RefValues and Closures.
        Raises ValueError for another number of values, TypeError or ValueError for values that cannot be of a parameter's type.
        """
        self._run_of(func_name).set_all(args, kwargs)

    def set_one_input(self, func_name, *args, **kwargs):
        """Sets one parameter: set_one_input("main", index, value), ("main", name, value) or ("main", name=value)."""
        if len(args) + 2 * len(kwargs) != 2:
            raise ValueError("set_one_input takes one parameter, by name or number, and its value")
        (key, value), = [args] if args else kwargs.items()
        run = self._run_of(func_name)
        run.set(run.index_of(key), value)

    def invoke(self, func_name, *args, **kwargs):
        """Runs a function, its parameters set before or given: an NDArray, ADT for a tuple, ConstructorValue, RefValue, Closure.

        Raises TVMError for values that do not fit and for what fails; the machine can be used again.
        """
        run = self._runs.get(func_name) or self._run_of(func_name)
        if args or kwargs:
            run.set_all(args, kwargs)
        return run.run()

    def run(self, *args, **kwargs):
        """invoke("main", ...)."""
        return self.invoke("main", *args, **kwargs)

    def invoke_stateful(self, func_name, *args, **kwargs):
        """Runs a function and keeps what it returns for get_outputs()."""
        self._outputs = flattened(self.invoke(func_name, *args, **kwargs))

    def invoke_with_outputs(self, func_name, input_args, output_args):
        """Runs a function, with inputs by name, and writes to the given NDArrays."""
        self.set_input(func_name, **input_args)
        outputs, targets = flattened(self.invoke(func_name)), listed("output_args", output_args)
        if len(outputs) != len(targets):
            raise ValueError(f"{func_name} returns {len(outputs)} arrays, {len(targets)} were given to write to")
        for target, value in zip(targets, outputs):
            wanted("output_args", target, ndarray.NDArray, "a list of NDArrays").copyfrom(value)
        self._outputs = outputs

    _outputs = None

    def get_outputs(self):
        """What the last invoke_stateful() returned, a list; fields of tuples one after another."""
        if self._outputs is None:
            raise core.TVMError("get_outputs: nothing has been run")
        return list(self._outputs)

    def get_input_index(self, input_name, func_name="main"):
        """The number of a parameter, or -1."""
        names = self.executable.get_function_params(func_name)
        return names.index(input_name) if input_name in names else -1

    def benchmark(self, device, *args, func_name="main", repeat=5, number=5, min_repeat_ms=None, limit_zero_time_iterations=100,
                  end_to_end=False, cooldown_interval_ms=0, repeats_to_cooldown=1, **kwargs):
        """Times a function; a BenchmarkResult of seconds per call. `end_to_end` counts setting inputs and copying outputs."""
        _require(device, self.executable.code)
        options = (number, repeat, min_repeat_ms or 0, limit_zero_time_iterations, cooldown_interval_ms, repeats_to_cooldown)
        run = self._run_of(func_name)
        run.set_all(args, kwargs)
        if not end_to_end:
            return BenchmarkResult(run.time(device, options))

        def once():
            for each in flattened(self.invoke(func_name, *args, **kwargs)):
                if isinstance(each, ndarray.NDArray):
                    each.numpy()

        return BenchmarkResult(core.time_bursts(once, *options))


def _require(device, code):
    devices = device if isinstance(device, (list, tuple)) else [device]
    require_devices(devices)
    require_parts_on(devices, lambda: code.device_types)


def _check_memory(memory_cfg):
    if memory_cfg is not None and not isinstance(memory_cfg, (str, dict)):
        raise TypeError(f"memory_cfg is expected be string or dictionary, but received {type(memory_cfg)}")
    by_device = memory_cfg if isinstance(memory_cfg, dict) else {}
    for device in by_device:
        wanted("memory_cfg", device, Device, "a dict by device")
    for each in by_device.values() if by_device else [memory_cfg] if memory_cfg is not None else []:
        if each not in ("naive", "pooled"):
            raise ValueError(f'memory_cfg: an allocator is "naive" or "pooled", not {each!r}')
