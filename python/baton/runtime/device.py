"""Devices by name and number: the host, those that a backend's plug-in finds here, and names to annotate programs with."""
import warnings

from .._load import core
from .._wanted import wrong

_NAMES = {1: "cpu", 2: "cuda", 3: "cuda_host", 4: "opencl", 5: "aocl", 6: "sdaccel", 7: "vulkan", 8: "metal", 9: "vpi", 10: "rocm",
          11: "rocm_host", 12: "ext_dev", 14: "hexagon", 15: "webgpu"}
_NUMBERS = {**{name: number for number, name in _NAMES.items()}, "llvm": 1, "stackvm": 1, "c": 1, "test": 1, "hybrid": 1,
            "composite": 1, "gpu": 2, "nvptx": 2, "cl": 4, "aocl_sw_emu": 5, "mtl": 8}


class Device:
    """The location of tensors: `device_type` as in DLPack (1: host, 2: CUDA) and a number.

    The environment variable BATON_DEVICE_ALIAS may name another kind for this one: the device is then of that kind.
    """

    MASK2STR, STR2MASK = _NAMES, _NUMBERS
    NAMES = _NAMES
    kDLCPU, kDLCUDA, kDLOpenCL, kDLVulkan, kDLMetal, kDLROCM, kDLExtDev, kDLHexagon, kDLWebGPU = 1, 2, 4, 7, 8, 10, 12, 14, 15

    def __init__(self, device_type, device_id=0):
        if isinstance(device_type, str):
            device_type = type_number(device_type)
        self.device_type = core.aliased_device_type(_number("device_type", device_type))
        self.device_id = _number("device_id", device_id)

    @property
    def exist(self):
        """Whether models can be run on it here."""
        return not self.missing

    @property
    def missing(self):
        """What is missing for it to be used here, a str; empty when it is there. Baton's own."""
        if self.device_type == 1:
            return "" if self.device_id == 0 else "the host is cpu(0)"
        return core.missing_device(self.device_type, self.device_id)

    @property
    def device_name(self):
        """Its name, as its driver says; None for a device that is not there."""
        if not self.exist:
            return None
        if self.device_type != 1:
            return core.device_name(self.device_type)
        with open("/proc/cpuinfo", encoding="utf-8") as facts:
            return next((line.split(":", 1)[1].strip() for line in facts if line.startswith("model name")), "cpu")

    def _of_accelerators(self):
        """A property that CPUs do not have: None."""
        return None

    max_threads_per_block = warp_size = max_shared_memory_per_block = compute_version = max_clock_rate = \
        multi_processor_count = max_thread_dimensions = api_version = driver_version = texture_spatial_limit = \
        property(_of_accelerators)

    def _stream(self, *_):
        """Processors have no streams: NotImplementedError."""
        raise NotImplementedError(f"{self!r} has no streams: kernels run on the calling thread and the pool's")

    create_raw_stream = free_raw_stream = set_raw_stream = _stream

    def sync(self, stream=None):
        """Waits for work on the device: models wait themselves, so a no-op. TVMError for a device that is not there."""
        require_devices(self)

    def __eq__(self, other):
        return isinstance(other, Device) and (self.device_type, self.device_id) == (other.device_type, other.device_id)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((self.device_type, self.device_id))

    def __repr__(self):
        return f"{_NAMES.get(self.device_type, self.device_type)}({self.device_id})"


def _number(name, value):
    if not hasattr(value, "__index__"):
        raise wrong(name, "an int", value)
    return int(value)


def type_number(name):
    """DLPack's number of a device type or target such as "cuda" or "llvm -mcpu=x", or that of a simulated device, such as
    "sim -sheet=npu" or "sim_npu". ValueError for an unknown one."""
    word = name.split()[0] if name.split() else name
    if word == "sim" or (word not in _NUMBERS and word in core.backend_kinds()):
        return core.target_device_type(name)
    if word not in _NUMBERS:
        raise ValueError(f"Unknown device type {name!r}; known: {', '.join(sorted(_NUMBERS))}")
    return _NUMBERS[word]


def require_devices(wanted):
    """Raises TVMError, which says what is missing, unless `wanted` is None, a device that is there, or a list of such."""
    for each in wanted if isinstance(wanted, (list, tuple)) else [wanted]:
        if each is None:
            continue
        if not isinstance(each, Device):
            raise TypeError(f"a device such as tvm.cpu(0) is expected, not {type(each).__name__}")
        if missing := each.missing:
            raise core.TVMError(f"device {each!r} is not there: {missing}")


def require_host(wanted):
    """Raises TVMError unless `wanted` is None, the host, or a list of such: for what runs there only."""
    require_devices(wanted)
    for each in wanted if isinstance(wanted, (list, tuple)) else [wanted]:
        if each is not None and each.device_type != 1:
            raise core.TVMError(f"device {each!r}: this runs on cpu(0) only")


def device(dev_type, dev_id=0):
    """A device by name ("cpu", "llvm", "cuda"), Target, or DLPack's number."""
    if hasattr(dev_type, "kind"):
        dev_type = dev_type.kind.name
    return Device(dev_type, dev_id)


def _maker(number, doc):
    def make(dev_id=0):
        return Device(number, dev_id)

    make.__name__ = make.__qualname__ = _NAMES[number]
    make.__doc__ = doc
    return make


cpu = _maker(1, "The host.")
cuda, rocm, opencl, vulkan, metal, vpi, ext_dev, hexagon, webgpu = (
    _maker(number, f"Device type {number}: programs can be annotated with it; `exist` says whether they can be run there.")
    for number in (2, 10, 4, 7, 8, 9, 12, 14, 15))
cl, mtl = opencl, metal


def gpu(dev_id=0):
    """The older name of cuda()."""
    warnings.warn("tvm.gpu() is deprecated: use tvm.cuda()", DeprecationWarning, stacklevel=2)
    return cuda(dev_id)
