"""Building pipelines of models over several devices. Baton runs on one."""
from .._load import core
from ..relay.transform import InferType
from .pipeline_executor import PipelineExecutorFactoryModule


def pipeline_executor_build_enabled():
    """False."""
    return False


def _refuse(*_, **__):
    raise core.NotSupported("pipelines of models over several devices are not provided")


class PipelineConfig:
    """Not provided."""

    def __init__(self):
        _refuse()


def build(pipe_configs):
    """Not provided."""
    _refuse()


def export_library(factory, directory_path):
    """Not provided."""
    _refuse()
