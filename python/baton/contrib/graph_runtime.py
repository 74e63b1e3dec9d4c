"""The name that graph_executor had before TVM 0.8."""
import warnings

from .graph_executor import GraphModule, get_device
from . import graph_executor as _graph_executor


def create(*args, **kwargs):
    """graph_executor.create(), with a DeprecationWarning."""
    warnings.warn("tvm.contrib.graph_runtime is deprecated: use tvm.contrib.graph_executor", DeprecationWarning, stacklevel=2)
    return _graph_executor.create(*args, **kwargs)
