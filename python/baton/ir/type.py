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


class PrimType:
    """The type of a number in TIR. Relay's numbers are tensors of rank 0 (relay.scalar_type)."""

    def __init__(self, dtype):
        self.dtype = str(dtype)

    def __eq__(self, other):
        return isinstance(other, PrimType) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)

    def __repr__(self):
        return self.dtype


class PointerType:
    """The type of a pointer in TIR."""

    def __init__(self, element_type, storage_scope=""):
        self.element_type, self.storage_scope = element_type, storage_scope

    def __eq__(self, other):
        return isinstance(other, PointerType) and (self.element_type, self.storage_scope) == (other.element_type, other.storage_scope)

    def __hash__(self):
        return hash((self.element_type, self.storage_scope))
