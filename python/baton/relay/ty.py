"""Types."""
from .._load import core, not_provided
from ..ir.adt import TypeCall, TypeData
from ..ir.type import GlobalTypeVar, TypeKind, TypeVar
from ..ir.type_relation import TypeConstraint, TypeRelation

Any = core.Any
Type = core.Type
TensorType = core.TensorType
TupleType = core.TupleType
FuncType = core.FuncType
RefType = core.RelayRefType
IncompleteType = core.IncompleteType


def scalar_type(dtype):
    """The type of one number: a tensor without axes, of element type `dtype`."""
    return TensorType((), dtype)


def ShapeVar(name):
    """A type variable that stands for a shape."""
    return TypeVar(name, TypeKind.ShapeVar)


def __getattr__(name):
    not_provided(__name__, name)
