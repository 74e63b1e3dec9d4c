"""TVM's names of what lies between its languages: functions and classes by name, and ctypes. Baton binds its C++ by other means."""
from .._ffi_names import register_extension, register_object
from ..error import register_error
from ..registry import get_global_func, list_global_func_names, register_func, remove_global_func
from . import base, libinfo, registry, runtime_ctypes
from .registry import _init_api
