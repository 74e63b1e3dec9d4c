"""Arrays, devices and loaded models."""
from .._aliases import same as _same
from .._load import core, not_provided
from .._wanted import mapped, wanted

from . import benchmark, container, module, ndarray, packed_func
from .container import (ADT, Object, ObjectGeneric, ObjectTypes, ShapeTuple, String, const, convert, convert_to_object)
from .object_path import ObjectPath, ObjectPathPair
from .module import Module, enabled, load_module, load_static_library, num_threads, system_lib
from .ndarray import (DataType, DataTypeCode, Device, NDArray, cl, cpu, cuda, device, ext_dev, gpu, hexagon, metal, mtl, opencl,
                      rocm, vpi, vulkan, webgpu)
from .packed_func import PackedFunc
from .profiling import Report


def save_param_dict(params):
    """TVM's parameter format, a bytearray; `params`: arrays by name."""
    return bytearray(core.save_params({name: ndarray.to_native(value) for name, value in mapped("params", params, "a dict of arrays by name")}))


def load_param_dict(param_bytes):
    """NDArrays by name from `param_bytes`, what save_param_dict gave. Raises TVMError for damaged bytes."""
    return core.load_params(bytes(wanted("param_bytes", param_bytes, (bytes, bytearray, memoryview), "bytes")))


_same(globals(), "object", "object_generic", "params")


def __getattr__(name):
    if name in ("vm", "profiler_vm", "executor", "name_transforms"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    not_provided(__name__, name)
