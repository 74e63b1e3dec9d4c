"""Tensors, whose memory is the host's, and devices. numpy is imported when the first array is made."""
from .._load import core, not_provided
from .device import (Device, cl, cpu, cuda, device, ext_dev, gpu, hexagon, metal, mtl, opencl, require_devices, require_host, rocm, vpi, vulkan,
                     webgpu)
from .types import DataType, DataTypeCode

NDArray = core.NDArray


def array(arr, device=None, mem_scope=None):  # pylint: disable=redefined-outer-name
    """A copy of `arr`: numpy array, NDArray, number, nested list or DLPack tensor of the host; any order and strides.

    `device` of the array is what was given; its memory is the host's, and models copy it to where they need it. Raises TypeError
    for other types and dtypes, TVMError for a device that is not there, NotImplementedError for a memory scope of its own.
    """
    require_devices(device)
    _require_plain(mem_scope)
    return _on(device, _in_memory(arr))


class _Placed(core.NDArray):
    """An array for another device than the host. Its memory is the host's."""

    def __init__(self, held, device):  # pylint: disable=redefined-outer-name
        super().__init__(held)
        self._device = device

    device = ctx = property(lambda self: self._device, doc="The device that was asked for.")


def _on(device, made):  # pylint: disable=redefined-outer-name
    return made if device is None or device.device_type == 1 else _Placed(made, device)


def _in_memory(arr):
    if isinstance(arr, NDArray):
        return core.NDArray.from_dense(arr.view() if arr.dtype != "bfloat16" else arr)
    import numpy as np

    if not isinstance(arr, np.ndarray):
        try:
            arr = np.from_dlpack(arr) if hasattr(arr, "__dlpack__") and not isinstance(arr, np.generic) else np.array(arr)
        except (BufferError, RuntimeError, ValueError) as why:
            raise TypeError(f"nd.array cannot read the given {type(arr).__name__}: {why}") from why
    if arr.dtype.name == "bfloat16":  # of ml_dtypes
        return _bfloat16(np.asarray(arr, order="C").view("uint16"))
    if arr.dtype.kind not in "iufb" or not arr.dtype.isnative:
        raise TypeError(f"arrays of dtype {arr.dtype} cannot be used; cast to a native number type first")
    return core.NDArray.from_dense(np.asarray(arr, order="C"))


def empty(shape, dtype="float32", device=None, mem_scope=None):
    """An array with undefined contents; `shape`: ints. `device` as of array()."""
    require_devices(device)
    _require_plain(mem_scope)
    return _on(device, core.NDArray.empty([int(extent) for extent in ([shape] if isinstance(shape, int) else shape)], str(dtype)))


def _require_plain(mem_scope):
    if mem_scope not in (None, "", "global"):
        raise NotImplementedError(f"memory scope {mem_scope!r}: this build has the host's memory only")


def from_dlpack(dltensor):
    """A view of a host tensor's memory: an object with __dlpack__ (numpy, torch), or a DLPack capsule.

    Raises ValueError for one that is not row-major without gaps, TypeError for what is no tensor of the host.
    """
    try:
        return core.NDArray.from_dlpack(dltensor)
    except TypeError as why:
        if hasattr(dltensor, "__dlpack_device__") and tuple(dltensor.__dlpack_device__())[0] != 1:
            raise TypeError(f"the tensor is on device {tuple(dltensor.__dlpack_device__())}, not on the host (1, 0)") from why
        raise TypeError(f"from_dlpack: a tensor of the host is expected, not {type(dltensor).__name__}") from why


def numpyasarray(np_data):
    """(an NDArray that shares the memory of a contiguous numpy array, its shape)."""
    shared = from_dlpack(np_data)
    return shared, shared.shape


def _is_no_handle(*_, **__):
    """A function of TVM's C interface, which Baton does not have: NotImplementedError."""
    raise NotImplementedError("Baton's arrays are no ctypes handles: use nd.array, nd.from_dlpack and NDArray.numpy()")


c_array = check_call = _is_no_handle
NDArrayBase = NDArray
TVMArray = TVMArrayHandle = NDArray
string_types = (str,)


def to_native(value):
    """`value` itself when it is an NDArray, else array(value)."""
    return value if isinstance(value, NDArray) else array(value)


def native_arrays(arrays):
    """A dict of arrays by name, or None, with to_native() of each."""
    return {name: to_native(value) for name, value in (arrays or {}).items()}


def as_numpy(value, dtype, name):
    """`value` as a row-major numpy array of that dtype. TypeError or ValueError that says `name` when it cannot be one."""
    import numpy as np

    wanted = "uint16" if dtype == "bfloat16" else dtype
    try:
        if not isinstance(value, np.ndarray):
            value = np.asarray(value)
        if dtype == value.dtype.name == "bfloat16":
            return np.asarray(value, order="C").view("uint16")
        if value.dtype.kind not in "iufb":
            raise TypeError(f"numbers are expected, not dtype {value.dtype}")
        return np.asarray(value, dtype=wanted, order="C")
    except (TypeError, ValueError, RuntimeError, BufferError) as why:
        kind = ValueError if isinstance(why, ValueError) else TypeError
        raise kind(f"{name} (a {type(value).__name__}): {why}") from why


def typed(value, dtype, name):
    """`value` as an NDArray of that dtype: itself, or a copy. TypeError or ValueError that says `name` when it cannot be one."""
    if isinstance(value, NDArray):
        if value.dtype == dtype:
            return value
        value = value.numpy()
    made = as_numpy(value, dtype, name)
    return _bfloat16(made) if dtype == "bfloat16" else core.NDArray.from_dense(made)


def _copyfrom(self, source_array):
    """Overwrites the contents with an array of the same shape; numbers are cast."""
    import numpy as np

    if isinstance(source_array, NDArray):
        source_array = source_array.numpy()
    source_array = as_numpy(source_array, self.dtype, "source_array")
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


def _set_item(self, key, value):
    """Only `array[:] = values`."""
    if key != slice(None) and key is not Ellipsis:
        raise ValueError("only array[:] = values and array[...] = values are provided")
    self.copyfrom(value)


NDArray.device = property(lambda self: cpu(0), doc="The device it was made for; results of models and what files hold: the host.")
NDArray.ctx = NDArray.device
NDArray.__setitem__ = _set_item
NDArray.__len__ = lambda self: self.shape[0] if self.shape else len(self.numpy())
NDArray.__reduce__ = lambda self: (array, (self.numpy(),)) if self.dtype != "bfloat16" else (_bfloat16, (self.numpy(),))
NDArray.copyfrom = _copyfrom
NDArray.copyto = _copyto
NDArray.__array__ = _as_array
NDArray.__repr__ = lambda self: f"<tvm.nd.NDArray shape={self.shape}, {self.device!r}>\n{self.numpy()!r}"
NDArray.__str__ = lambda self: str(self.numpy())


def _bfloat16(bits):
    made = core.NDArray.empty(bits.shape, "bfloat16")
    made._copy_bits(bits)  # pylint: disable=protected-access
    return made


def __getattr__(name):
    not_provided(__name__, name)
