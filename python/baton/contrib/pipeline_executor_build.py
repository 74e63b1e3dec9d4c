"""Splitting a program over several devices, which Baton does not have: using these raises NotImplementedError."""
from .._refused import refused
from ..relay.transform import InferType
from .pipeline_executor import PipelineExecutorFactoryModule

_REASON = "programs are not split over devices that run at once"
PipelineConfig = refused(__name__, "PipelineConfig", _REASON)


def pipeline_executor_build_enabled():
    """Whether it is there: no."""
    return False


def build(pipe_configs):
    """Raises NotImplementedError."""
    raise NotImplementedError(f"pipeline_executor_build.build: {_REASON}")


def export_library(factory, directory_path):
    """Raises NotImplementedError."""
    raise NotImplementedError(f"pipeline_executor_build.export_library: {_REASON}")
