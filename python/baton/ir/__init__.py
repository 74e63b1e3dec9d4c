"""Programs: modules, types, positions, equality."""
from .._load import core, not_provided

from . import adt, affine_type, attrs, base, container, diagnostics, expr, function, instrument, module, op  # noqa: A004
from . import tensor_type, transform, type, type_relation  # noqa: A004
from .adt import Constructor, TypeCall, TypeData
from .affine_type import TensorAffineType, TupleAffineType
from .base import (Attrs, EnvFunc, Node, SourceName, Span, assert_structural_equal, load_json, make_node, save_json,
                   structural_equal, structural_hash)
from .container import Array, Map
from .expr import BaseExpr, GlobalVar, PrimExpr, Range, RelayExpr
from .function import BaseFunc, CallingConv, DictAttrs
from .module import IRModule
from .op import Op, register_op_attr
from .type import (FuncType, GlobalTypeVar, IncompleteType, PointerType, PrimType, RelayRefType, TensorType, TupleType, Type,
                   TypeKind, TypeVar)
from .type_relation import TypeConstraint, TypeRelation


def __getattr__(name):
    not_provided(__name__, name)
