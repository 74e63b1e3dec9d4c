"""Types."""
from .._load import core

Type = core.Type
TensorType = core.TensorType
TupleType = core.TupleType
FuncType = core.FuncType
IncompleteType = core.IncompleteType
