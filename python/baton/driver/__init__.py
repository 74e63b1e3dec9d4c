"""TVM's drivers of TE and TIR, which Baton does not have."""
from .build_module import build, lower
