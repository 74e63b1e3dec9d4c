"""TVMScript, which Baton does not have: names can be imported, using them raises NotImplementedError."""
from ._refused import fill

__getattr__ = fill(globals(), "Baton has no TIR, and so no TVMScript")
