"""Types."""
from .._load import core, not_provided

Any = core.Any
Type = core.Type
TensorType = core.TensorType
TupleType = core.TupleType
FuncType = core.FuncType
IncompleteType = core.IncompleteType


def scalar_type(dtype):
    """The type of one number."""
    return TensorType((), dtype)


def __getattr__(name):
    not_provided(__name__, name)
