"""Features of the machine or build that tests may require: requires_llvm, requires_cuda, ..; each skips the test if missing."""
import functools


class Feature:
    """A feature that a test may require; `has()` is true when it is available. Used as a decorator, or by marks()."""

    def __init__(self, name, long_name=None, cmake_flag=None, target_kind_enabled=None, compile_time_check=None,
                 target_kind_hardware=None, run_time_check=None, parent_features=None):
        self.name, self.long_name, self.cmake_flag = name, long_name or name, cmake_flag
        self.target_kind_enabled, self.target_kind_hardware = target_kind_enabled, target_kind_hardware
        self.compile_time_check, self.run_time_check = compile_time_check, run_time_check
        self.parent_features = [parent_features] if isinstance(parent_features, str) else list(parent_features or [])

    def missing(self):
        """Why it is missing; an empty str when it is available."""
        if self.target_kind_enabled not in (None, "llvm", "c") or self.target_kind_hardware not in (None, "llvm", "c"):
            return f"{self.long_name}: tests run on this machine's processor only"
        if self.cmake_flag is not None:
            return f"{self.long_name} is no part of Baton"
        for check in (self.compile_time_check, self.run_time_check):
            answer = True if check is None else check()
            if answer is not True:
                return answer if isinstance(answer, str) else f"{self.long_name} is not there"
        return ""

    def marks(self, support_required="compile-and-run"):
        """pytest marks that skip the test when it is missing."""
        import pytest

        if support_required not in ("compile-and-run", "compile-only", "optional"):
            raise ValueError(f"unknown feature support type: {support_required}")
        reason = self.missing()
        return [pytest.mark.skipif(bool(reason) and support_required != "optional", reason=reason)]

    def __call__(self, func=None, *, support_required="compile-and-run"):
        if func is None:
            return functools.partial(self, support_required=support_required)
        for mark in self.marks(support_required):
            func = mark(func)
        return func

    @classmethod
    def require(cls, name, func=None, *, support_required="compile-and-run"):
        """Decorator: skips a test where the feature of that name is not there."""
        return FEATURES[name](func, support_required=support_required)


def _x86():
    import platform

    return platform.machine() in ("x86_64", "AMD64")


def _cascadelake():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as facts:
            return "avx512_vnni" in facts.read()
    except OSError:
        return False


FEATURES = {each.name: each for each in [
    Feature("llvm", "LLVM"),
    Feature("x86", "x86", run_time_check=_x86),
    Feature("cascadelake", "x86 with AVX-512 VNNI", run_time_check=_cascadelake),
    Feature("arm_dot", "ARM with dot products", run_time_check=lambda: False),
    *(Feature(kind, long, target_kind_enabled=kind) for kind, long in (
        ("cuda", "CUDA"), ("opencl", "OpenCL"), ("rocm", "ROCm"), ("metal", "Metal"), ("vulkan", "Vulkan"), ("nvptx", "NVPTX"),
        ("hexagon", "Hexagon"))),
    Feature("gpu", "a GPU", target_kind_enabled="cuda"),
    *(Feature(name, long, target_kind_enabled="cuda") for name, long in (
        ("tensorcore", "tensor cores"), ("cublas", "cuBLAS"), ("cudnn", "cuDNN"), ("cudagraph", "CUDA graphs"))),
    *(Feature(name, long, cmake_flag=name) for name, long in (
        ("cutlass", "CUTLASS"), ("cmsisnn", "CMSIS-NN"), ("corstone300", "Corstone-300"), ("ethosn", "Ethos-N"), ("ethosu", "Ethos-U"),
        ("libtorch", "LibTorch"), ("micro", "microTVM"), ("openclml", "CLML"), ("rpc", "RPC"), ("vitis_ai", "Vitis AI"))),
]}


def requires_package(*packages):
    """Decorator: skips a test unless these Python packages can be imported."""
    import importlib.util

    import pytest

    missing = [each for each in packages if importlib.util.find_spec(each) is None]
    return pytest.mark.skipif(bool(missing), reason=f"packages that are missing: {', '.join(missing)}")


def uses_gpu(func):
    """Decorator: marks a test that runs on a GPU where there is one. It runs on the processor here."""
    import pytest

    return pytest.mark.gpu(func)


def requires_cuda_compute_version(major_version, minor_version=0):
    """Decorator: skips a test that needs a CUDA device: there is none to build for."""
    return FEATURES["cuda"]


def requires_nvcc_version(major_version, minor_version=0, release_version=0):
    """Decorator: skips a test that needs NVIDIA's compiler: it is not used."""
    return FEATURES["cuda"]


def is_ampere_or_newer():
    """Whether there is a CUDA device of that kind to build for: no."""
    return False


def _function_of(feature):
    def requires(func=None, *, support_required="compile-and-run"):
        return feature(func, support_required=support_required)

    requires.__name__ = requires.__qualname__ = f"requires_{feature.name}"
    requires.__doc__ = f"Decorator: skips a test where {feature.long_name} is not there."
    requires.marks, requires.feature = feature.marks, feature
    return requires


globals().update({f"requires_{_name}": _function_of(_each) for _name, _each in FEATURES.items()})
