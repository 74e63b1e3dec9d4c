"""Tensors in host memory, and devices. numpy is imported when the first array is made."""
from .._load import core

NDArray = core.NDArray


class Device:
    """Where tensors live: `device_type` as in DLPack (1: host, 2: CUDA) and a number."""

    NAMES = {1: "cpu", 2: "cuda", 4: "opencl", 7: "vulkan", 8: "metal", 10: "rocm"}

    def __init__(self, device_type, device_id=0):
        self.device_type, self.device_id = int(device_type), int(device_id)

    @property
    def exist(self):
        """Whether this build can use it: the host only."""
        return self.device_type == 1 and self.device_id == 0

    def sync(self, stream=None):
        """Waits for work on the device; the host never has any left."""

    def __eq__(self, other):
        return isinstance(other, Device) and (self.device_type, self.device_id) == (other.device_type, other.device_id)

    def __hash__(self):
        return hash((self.device_type, self.device_id))

    def __repr__(self):
        return f"{self.NAMES.get(self.device_type, self.device_type)}({self.device_id})"


def cpu(dev_id=0):
    """The host."""
    return Device(1, dev_id)


def cuda(dev_id=0):
    """A CUDA device; nothing can be run there yet."""
    return Device(2, dev_id)


gpu = cuda


def device(dev_type, dev_id=0):
    """A device by name ("cpu", "llvm", "cuda") or DLPack's number."""
    if isinstance(dev_type, str):
        name = {"llvm": "cpu", "c": "cpu", "gpu": "cuda"}.get(dev_type.split()[0], dev_type.split()[0])
        found = [number for number, known in Device.NAMES.items() if known == name]
        if not found:
            raise ValueError(f"unknown device type {dev_type!r}")
        dev_type = found[0]
    return Device(dev_type, dev_id)


def require_host(wanted):
    """Raises TVMError unless `wanted` is None or the host."""
    if wanted is not None and not getattr(wanted, "exist", False):
        raise core.TVMError(f"device {wanted!r} is not there; this build runs on cpu(0)")


def array(arr, device=None, mem_scope=None):
    """A copy of `arr` (numpy array, NDArray, number or nested list; any order, strides or DLPack tensor of the host)."""
    require_host(device)
    if isinstance(arr, NDArray):
        return core.NDArray.from_dense(arr.view() if arr.dtype != "bfloat16" else arr)
    import numpy as np

    if not isinstance(arr, np.ndarray):
        arr = np.from_dlpack(arr) if hasattr(arr, "__dlpack__") else np.array(arr)
    if arr.dtype.kind not in "iufb" or not arr.dtype.isnative:
        raise TypeError(f"arrays of dtype {arr.dtype} cannot be used; cast to a native number type first")
    return core.NDArray.from_dense(np.asarray(arr, order="C"))


def empty(shape, dtype="float32", device=None, mem_scope=None):
    """An array with undefined contents."""
    require_host(device)
    return core.NDArray.empty([int(extent) for extent in shape], dtype)


def to_native(value):
    """`value` itself when it is an NDArray, else array(value)."""
    return value if isinstance(value, NDArray) else array(value)


def _copyfrom(self, source_array):
    """Overwrites the contents by an array of the same shape; numbers are cast."""
    import numpy as np

    if isinstance(source_array, NDArray):
        source_array = source_array.numpy()
    source_array = np.asarray(source_array, dtype=self.dtype, order="C")
    if source_array.shape != self.shape:
        raise ValueError(f"array shape does not match: {source_array.shape} given, {self.shape} expected")
    self._copy_from(source_array)
    return self


def _copyto(self, target, mem_scope=None):
    """Copies into another NDArray, or returns a copy on a device."""
    if isinstance(target, NDArray):
        return target.copyfrom(self)
    return array(self, target)


def _as_array(self, dtype=None, copy=None):
    copied = self.numpy()
    return copied if dtype is None else copied.astype(dtype)


NDArray.device = property(lambda self: cpu(0), doc="Always the host.")
NDArray.copyfrom = _copyfrom
NDArray.copyto = _copyto
NDArray.__array__ = _as_array
NDArray.__repr__ = lambda self: f"<tvm.nd.NDArray shape={self.shape}, {self.device!r}>\n{self.numpy()!r}"
NDArray.__str__ = lambda self: str(self.numpy())
