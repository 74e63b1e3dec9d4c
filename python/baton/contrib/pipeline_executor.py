"""Pipelines of models over several devices. Baton runs on one."""
from ..registry import get_global_func
from .._load import core


def pipeline_executor_enabled():
    """False."""
    return False


def _refuse(self, *_, **__):
    raise core.NotSupported(f"{type(self).__name__}: pipelines of models over several devices are not provided")


PipelineModule = type("PipelineModule", (), {"__doc__": "Not provided.", "__init__": _refuse})
PipelineExecutorFactoryModule = type("PipelineExecutorFactoryModule", (), {"__doc__": "Not provided.", "__init__": _refuse})
