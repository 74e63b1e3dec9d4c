"""Looking at what a graph computes and how long its kernels take."""
from . import debug_executor, debug_result
