"""TVM's third tuner, which Baton does not have: names can be imported, using them raises NotImplementedError."""
from ._refused import fill

__getattr__ = fill(globals(), "Baton does not tune by MetaSchedule")
