"""Targets by the name of a device. All can be named; builds are made for the processor of this machine only."""
import warnings

from .._wanted import listed, wanted


def _target(kind, keys=(), device=None, options=None, **attrs):
    from . import Target

    words = [kind] + ([f"-keys={','.join(keys)}"] if keys else []) + ([f"-device={device}"] if device else [])
    words += [f"-{name.replace('_', '-')}={value}" for name, value in attrs.items() if value is not None]
    words += [options] if isinstance(options, str) else [wanted("an option", each, str, "a str") for each in listed("options", options or [])]
    return Target(" ".join(words))


def create(target):
    """A Target of what Target() takes."""
    from . import Target

    warnings.warn("tvm.target.create() is deprecated: use Target()", DeprecationWarning, stacklevel=2)
    return Target(target)


def list_tags():
    """Targets by tag: Baton has none registered, so an empty dict."""
    return {}


def cuda(model="unknown", arch=None, options=None):
    """CUDA; `arch` is like "sm_80"."""
    return _target("cuda", options=options, model=model, arch=arch)


def rocm(model="unknown", options=None):
    """ROCm."""
    return _target("rocm", options=options, model=model)


def mali(model="unknown", options=None):
    """OpenCL on an ARM Mali GPU."""
    return _target("opencl", device="mali", options=options, model=model)


def bifrost(model="unknown", options=None):
    """OpenCL on an ARM Mali GPU of generation Bifrost."""
    return _target("opencl", device="bifrost", options=options, model=model)


def intel_graphics(model="unknown", options=None):
    """OpenCL on an Intel GPU."""
    return _target("opencl", device="intel_graphics", options=options, model=model, thread_warp_size=16)


def arm_cpu(model="unknown", options=None):
    """An ARM processor; `options` say which (-mtriple=.., -mattr=..)."""
    return _target("llvm", keys=("arm_cpu", "cpu"), device="arm_cpu", options=options, model=model)


def rasp(options=None):
    """A Raspberry Pi 3b."""
    warnings.warn("tvm.target.rasp() is deprecated: use arm_cpu()", DeprecationWarning, stacklevel=2)
    return arm_cpu("rasp3b", options)


def riscv_cpu(model="sifive-u54", options=None):
    """A RISC-V processor; `options` say which (-mtriple=.., -mattr=..)."""
    return _target("llvm", keys=("arm_cpu", "cpu"), device="arm_cpu", options=options, model=model)


def stm32(series="unknown", options=None):
    """C for an STM32 board."""
    return _target("c", keys=("arm_cpu", "cpu"), device="arm_cpu", options=options, model=series)


def hexagon(cpu_ver="v66", **kwargs):
    """A Hexagon DSP; keywords become options."""
    return _target("hexagon", mcpu=f"hexagon{cpu_ver}", **kwargs)


def vta(model="unknown", options=None):
    """The accelerator VTA."""
    return _target("ext_dev", keys=("vta", "cpu"), device="vta", options=options, model=model)
