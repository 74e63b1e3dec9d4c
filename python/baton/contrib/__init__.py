"""Executors, debuggers, folders."""
from .._load import not_provided as _not_provided

from . import graph_executor


def __getattr__(name):
    if name in ("debugger", "utils", "graph_runtime", "aot_executor", "pipeline_executor", "pipeline_executor_build", "download", "relay_viz", "cc"):
        import importlib

        try:
            return importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError:
            pass
    _not_provided(__name__, name)
