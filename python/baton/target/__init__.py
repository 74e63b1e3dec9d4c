"""What to compile for."""
from .._load import core, not_provided
from .compilation_config import make_compilation_config
from .factories import (arm_cpu, bifrost, create, cuda, hexagon, intel_graphics, list_tags, mali, rasp, riscv_cpu, rocm, stm32,
                        vta)
from .generic_func import GenericFunc, generic_func, get_native_generic_func, override_native_generic_func
from .virtual_device import VirtualDevice


class Target:
    """A target such as "llvm" or "llvm -mcpu=skylake-avx512"; a scope when used with `with`.

    Kernels are made for the machine that this runs on, whatever -mcpu says; passes that are called by name, such as
    AlterOpLayout, choose for the processor that it names.
    """

    _stack = []

    def __init__(self, target, host=None):
        if isinstance(target, Target):
            target = target.text
        if isinstance(target, dict):
            target = " ".join([target["kind"]] + [f"-{k}={v}" for k, v in target.items() if k != "kind"])
        if not isinstance(target, str) or not target.strip():
            raise ValueError(f"a target such as \"llvm\" is expected, not {target!r}")
        self.text, self.host = target, host

    @property
    def kind(self):
        """An object with the `name` of the target's kind."""
        return TargetKind(self.text.split()[0])

    @property
    def keys(self):
        """The kinds of device it stands for."""
        return ["cpu"] if self.kind.name in ("llvm", "c") else [self.kind.name, "gpu"]

    @property
    def attrs(self):
        """Options by name."""
        words = [word[1:].split("=", 1) for word in self.text.split()[1:] if word.startswith("-")]
        return {word[0]: word[1] if len(word) > 1 else True for word in words}

    @property
    def mcpu(self):
        """The option -mcpu, or ""."""
        return self.attrs.get("mcpu", "")

    @staticmethod
    def current(allow_none=True):
        """The target of the innermost `with`."""
        if Target._stack:
            return Target._stack[-1]
        if allow_none:
            return None
        raise ValueError("there is no current target")

    @staticmethod
    def canon_target(target):
        """A Target from a Target, a str or None."""
        return target if target is None or isinstance(target, Target) else Target(target)

    def __enter__(self):
        Target._stack.append(self)
        core.enter_target(self.text)
        return self

    def __exit__(self, *exception):
        core.exit_target()
        Target._stack.pop()

    def __str__(self):
        return self.text

    def __repr__(self):
        return self.text

    def __eq__(self, other):
        return isinstance(other, Target) and self.text == other.text

    def __hash__(self):
        return hash(self.text)


class TargetKind:
    """The kind of a target."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name

    def __eq__(self, other):
        return str(other) == self.name

    def __hash__(self):
        return hash(self.name)


def require_cpu(target):
    """The Target to build for: `target`, or the current one. NotSupported unless it is the host's processor."""
    if isinstance(target, dict):
        target = list(target.values())
    if isinstance(target, (list, tuple)):
        if len(target) != 1:
            raise core.NotSupported("builds for several targets are not provided yet")
        target = target[0]
    target = Target.canon_target(target) or Target.current()
    if target is None:
        raise ValueError("Target is not set in env or passed as argument.")
    if target.kind.name not in ("llvm", "c"):
        raise core.NotSupported(f"target {target}: only \"llvm\" (this machine's processor) can be built for yet")
    return target


core.VirtualDevice.target = property(lambda self: Target(self._target) if self._target else None)
core.CompilationConfig.primitive_targets = property(
    lambda self: [Target(each, host=self._host) for each in self._primitive_targets])
core.CompilationConfig.optional_homogeneous_target = property(
    lambda self: self.primitive_targets[0] if len(self.primitive_targets) == 1 else None)


def __getattr__(name):
    not_provided(__name__, name)
