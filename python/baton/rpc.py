"""TVM's remote procedure calls, which Baton does not have: names can be imported, using them raises NotImplementedError."""
from ._refused import fill

__getattr__ = fill(globals(), "Baton runs on this machine only")
