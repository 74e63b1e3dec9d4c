"""Running parts of a program on several devices at once, which Baton does not have: using these raises NotImplementedError."""
from .._refused import refused
from ..registry import get_global_func

_REASON = "programs are not split over devices that run at once"
PipelineModule = refused(__name__, "PipelineModule", _REASON)
PipelineExecutorFactoryModule = refused(__name__, "PipelineExecutorFactoryModule", _REASON)


def pipeline_executor_enabled():
    """Whether it is there: no."""
    return False
