"""Compilation targets."""
from .._aliases import same as _same
from .._load import core, not_provided
from .._wanted import mapped, wanted
from .compilation_config import make_compilation_config
from .factories import (arm_cpu, bifrost, create, cuda, hexagon, intel_graphics, list_tags, mali, rasp, riscv_cpu, rocm, stm32,
                        vta)
from .generic_func import GenericFunc, generic_func, get_native_generic_func, override_native_generic_func
from .virtual_device import VirtualDevice


class Target:
    """A target such as "llvm" or "llvm -mcpu=skylake-avx512"; a scope when used with `with`.

    Kernels are compiled for the processor that -mtriple, -mcpu and -mattr name, and for this machine's where
    none is named. What is built for another processor is written to a file and run there.
    """

    _stack = []

    def __init__(self, target, host=None):
        if isinstance(target, Target):
            target, host = target.text, target.host if host is None else host
        if isinstance(target, dict):
            target = " ".join([target["kind"]] + [f"-{k}={v}" for k, v in target.items() if k != "kind"])
        if not isinstance(target, str) or not target.strip():
            raise ValueError(f"a target such as \"llvm\" is expected, not {target!r}")
        self.text, self.host = target, Target.canon_target(host)

    @property
    def kind(self):
        """An object with the `name` of the target's kind."""
        return TargetKind(self.text.split()[0])

    @property
    def keys(self):
        """The kinds of device it covers."""
        return ["cpu"] if self.kind.name in ("llvm", "c") else [self.kind.name, "gpu"]

    @property
    def attrs(self):
        """Options by name."""
        words = [word[1:].split("=", 1) for word in self.text.split()[1:] if word.startswith("-")]
        return {word[0]: word[1] if len(word) > 1 else True for word in words}

    def _option(name, kind, default):  # noqa: N805 -- makes properties, below
        def read(self):
            options = self.attrs
            return kind(options.get(name, options.get(name.replace("_", "-"), default)))

        return property(read, doc=f"The option -{name}, or {default!r}.")

    mcpu, arch, device_name = _option("mcpu", str, ""), _option("arch", str, ""), _option("device", str, "")
    model = _option("model", str, "unknown")
    max_num_threads, thread_warp_size = _option("max_num_threads", int, 1), _option("thread_warp_size", int, 1)
    max_function_args, vtcm_capacity = _option("max_function_args", int, -1), _option("vtcm_capacity", int, 0)

    @property
    def mattr(self):
        """The features that -mattr names: a list of str."""
        return [each for each in str(self.attrs.get("mattr", "")).split(",") if each]

    @property
    def libs(self):
        """The libraries that -libs names: a list of str."""
        return [each for each in str(self.attrs.get("libs", "")).split(",") if each]

    @property
    def supports_integer_dot_product(self):
        """The option -supports_integer_dot_product, or whether the processor of -mcpu or -mattr has it in Arm's form."""
        return str(self.attrs.get("supports_integer_dot_product", "+dotprod" in self.mattr)).lower() in ("true", "1")

    @property
    def features(self):
        """Target features, which targets of this version do not have: NotImplementedError."""
        raise NotImplementedError("Target.features: targets have options (attrs), no features that are worked out from them")

    def export(self):
        """Its kind, keys and options, from which Target() can restore it."""
        return {"kind": self.kind.name, **self.attrs}

    def with_host(self, host=None):
        """This target with another host."""
        return Target(self, host)

    def get_kind_attr(self, attr_name):
        """An attribute of its kind; Baton's kinds have none: None."""
        wanted("attr_name", attr_name, str, "a str")

    def get_target_device_type(self):
        """DLPack's number of the device that it makes code for."""
        from ..runtime.device import type_number

        return type_number(self.kind.name)

    @staticmethod
    def list_kinds():
        """Names of kinds of targets: those that programs can be annotated with. `core.backend_kinds()` are those that can be built for."""
        known = ["c", "cuda", "ext_dev", "hexagon", "llvm", "metal", "opencl", "rocm", "vulkan", "webgpu"]
        return sorted({*known, *core.backend_kinds()})

    @staticmethod
    def canon_target_and_host(target, target_host=None):
        """(target, host) as Targets; a host that the target has counts when none is given."""
        target = Target.canon_target(target)
        if target is None:
            if target_host is not None:
                raise ValueError("target_host without a target")
            return None, None
        host = Target.canon_target(target.host if target_host is None else target_host)
        return (target if host is None else Target(target, host)), host

    @staticmethod
    def canon_multi_target(multi_targets):
        """A list of Targets from one or several, from a dict's values, or None."""
        if multi_targets is None:
            return None
        several = multi_targets.values() if isinstance(multi_targets, dict) else multi_targets
        return [Target.canon_target(each) for each in (several if isinstance(several, (list, tuple, type({}.values()))) else [several])]

    @staticmethod
    def canon_multi_target_and_host(target, target_host=None):
        """canon_multi_target(), each with the host."""
        if target is None:
            raise ValueError("Target is not set in env or passed as argument.")
        return [Target.canon_target_and_host(each, target_host)[0] for each in Target.canon_multi_target(target)]

    @staticmethod
    def canon_target_map_and_host(target_map, target_host=None):
        """({target: value}, host) of a dict by target."""
        host, made = Target.canon_target(target_host), {}
        for each, value in mapped("target_map", target_map):
            target, its_host = Target.canon_target_and_host(each, host)
            host, made[target] = its_host or host, value
        return made, host

    @staticmethod
    def target_or_current(target):
        """The Target, or the current one when it is None; ValueError when there is none."""
        return Target.current(allow_none=False) if target is None else Target.canon_target(target)

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

    @property
    def options(self):
        """The options of such targets; Baton keeps those it is given: {}."""
        return self.options_from_name(self.name)

    @staticmethod
    def options_from_name(kind_name):
        """The options of a kind; Baton keeps those it is given: {}. ValueError for a kind that is not known."""
        if kind_name not in Target.list_kinds():
            raise ValueError(f"there is no kind of target {kind_name!r}")
        return {}

    def __str__(self):
        return self.name

    def __eq__(self, other):
        return str(other) == self.name

    def __hash__(self):
        return hash(self.name)


def build_targets(target):
    """The Targets to build for: `target`, one or several, or the current one. NotSupported for one that no backend serves."""
    several = Target.canon_multi_target(target) or [Target.current()]
    if several == [None]:
        raise ValueError("Target is not set in env or passed as argument.")
    kinds = core.backend_kinds()
    for each in several:
        if each.kind.name not in ["c", "sim", *kinds]:  # "sim -sheet=NAME" stands for the kind sim_NAME
            raise core.NotSupported(f"target {each}: no backend builds for {each.kind.name}; there are backends for: {', '.join(kinds)}")
    return several


def device_sheets():
    """The facts about each device that can be built for here, the CPU first: texts with one fact per line."""
    return core.device_sheets()


core.VirtualDevice.target = property(lambda self: Target(self._target, self._host or None) if self._target else None)
core.CompilationConfig.primitive_targets = property(
    lambda self: [Target(each, host=self._host) for each in self._primitive_targets])
core.CompilationConfig.optional_homogeneous_target = property(
    lambda self: self.primitive_targets[0] if len(self.primitive_targets) == 1 else None)


from . import target  # noqa: E402 -- it re-exports what stands above


_same(globals(), "tag", "codegen")


def __getattr__(name):
    not_provided(__name__, name)
