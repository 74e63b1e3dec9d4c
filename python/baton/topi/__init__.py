"""TVM's operator inventory, which Baton does not have: names can be imported, using them raises NotImplementedError."""
from .._refused import fill

__getattr__ = fill(globals(), "Baton has no tensor expressions: kernels are generated from the operators' own definitions")
