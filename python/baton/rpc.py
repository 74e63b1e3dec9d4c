"""TVM's remote procedure calls, which Baton does not have: names can be imported, using them raises NotImplementedError."""
from ._refused import fill

__path__ = []  # of modules below it, baton.tvm says why they are missing
__getattr__ = fill(globals(), "Baton runs on this machine only")
