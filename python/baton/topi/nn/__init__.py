"""TVM's layers as tensor expressions, which Baton does not have: using them raises NotImplementedError."""
from ..._refused import fill as _fill
from .. import _REASON
from . import qnn

__getattr__ = _fill(globals(), _REASON)
