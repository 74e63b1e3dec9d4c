"""Executors of programs."""
from ..._load import not_provided as _not_provided

from . import executor, runtime
from .executor import Executor
from .runtime import Runtime

_LATER = ("executor_factory", "interpreter", "name_transforms", "te_compiler", "utils", "vm")


def __getattr__(name):
    if name in _LATER:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    _not_provided(__name__, name)
