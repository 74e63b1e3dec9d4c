"""Types."""
from .._load import core
from .absent import absent

Type = core.Type
TypeKind = core.TypeKind
TensorType = core.TensorType
TupleType = core.TupleType
FuncType = core.FuncType
TypeVar = core.TypeVar
GlobalTypeVar = core.GlobalTypeVar
RelayRefType = core.RelayRefType
IncompleteType = core.IncompleteType

PointerType = absent("PointerType", "it belongs to tir")
PrimType = absent("PrimType", "it belongs to tir; the type of one number is TensorType((), dtype)")
