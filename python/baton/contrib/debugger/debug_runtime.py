"""The name that debug_executor had before TVM 0.8."""
import warnings

from .debug_executor import GraphModuleDebug
from . import debug_executor as _debug_executor


def create(*args, **kwargs):
    """debug_executor.create(), with a DeprecationWarning."""
    warnings.warn("debug_runtime is deprecated: use debug_executor", DeprecationWarning, stacklevel=2)
    return _debug_executor.create(*args, **kwargs)
