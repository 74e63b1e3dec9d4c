"""Functions and classes by name."""
import sys

from .._ffi_names import register_extension, register_object
from ..registry import get_global_func, list_global_func_names, register_func, remove_global_func


def extract_ext_funcs(finit):
    """Not provided: Baton takes no functions of C from other libraries."""
    raise NotImplementedError("extract_ext_funcs: Baton takes no functions of C from other libraries")


def _init_api(namespace, target_module_name=None):
    """Gives a module what is registered under `namespace`."""
    module = sys.modules[target_module_name or namespace]
    for name in list_global_func_names():
        if name.startswith(namespace + "."):
            setattr(module, name[len(namespace) + 1:], get_global_func(name))
