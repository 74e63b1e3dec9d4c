"""Data types and devices, and C types of arrays."""
import ctypes

from ..runtime.device import Device
from ..runtime.types import DataType, DataTypeCode

tvm_shape_index_t = ctypes.c_int64


class TVMByteArray(ctypes.Structure):
    """Bytes and their number."""

    _fields_ = [("data", ctypes.POINTER(ctypes.c_byte)), ("size", ctypes.c_size_t)]


class ArgTypeCode:
    """TVM's numbers of the kinds of arguments of functions."""

    INT, UINT, FLOAT, HANDLE, NULL, TVM_TYPE, DLDEVICE, DLTENSOR_HANDLE, OBJECT_HANDLE, MODULE_HANDLE, PACKED_FUNC_HANDLE, STR, BYTES, \
        NDARRAY_HANDLE, OBJECT_RVALUE_REF_ARG = range(15)
    EXT_BEGIN = 15


TVMArrayHandle = TVMPackedFuncHandle = ObjectHandle = ctypes.c_void_p
