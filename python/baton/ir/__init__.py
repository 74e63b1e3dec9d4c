"""Programs: modules, types, positions, equality."""
from .._load import core, not_provided

from . import (adt, affine_type, base, container, diagnostics, expr, function, instrument, memory_pools, module, op,  # noqa: A004
               tensor_type, transform, type, type_relation)
from . import attrs
from .adt import Constructor, TypeCall, TypeData
from .affine_type import TensorAffineType, TupleAffineType
from .attrs import Attrs, make_node
from .base import (EnvFunc, Node, SourceName, Span, assert_structural_equal, load_json, save_json, structural_equal,
                   structural_hash)
from .container import Array, Map
from .expr import BaseExpr, GlobalVar, PrimExpr, Range, RelayExpr
from .function import BaseFunc, CallingConv, DictAttrs
from .memory_pools import (ConstantMemoryPools, ConstantPoolInfo, PoolInfo, PoolInfoProperties, WorkspaceMemoryPools,
                           WorkspacePoolInfo)
from .module import IRModule
from .op import Op, register_intrin_lowering, register_op_attr
from .type import (FuncType, GlobalTypeVar, IncompleteType, PointerType, PrimType, RelayRefType, TensorType, TupleType, Type,
                   TypeKind, TypeVar)
from .type_relation import TypeConstraint, TypeRelation


def __getattr__(name):
    not_provided(__name__, name)
