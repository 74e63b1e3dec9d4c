"""Types."""
from .._load import core

Type = core.Type
TypeKind = core.TypeKind
TensorType = core.TensorType
TupleType = core.TupleType
FuncType = core.FuncType
TypeVar = core.TypeVar
GlobalTypeVar = core.GlobalTypeVar
RelayRefType = core.RelayRefType
IncompleteType = core.IncompleteType
