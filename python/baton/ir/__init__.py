"""Programs: modules, types, positions, equality."""
from .._load import core, not_provided

from . import adt, base, diagnostics, expr, function, instrument, module, op, transform, type  # noqa: A004
from .adt import Constructor, TypeCall, TypeData
from .base import (Attrs, Span, assert_structural_equal, load_json, save_json, structural_equal, structural_hash)
from . import parts, reflection
from .base import make_node
from .expr import BaseExpr, GlobalVar, PrimExpr, Range, RelayExpr
from .function import BaseFunc, CallingConv, DictAttrs
from .module import IRModule
from .op import Op, register_op_attr
from .type import (FuncType, GlobalTypeVar, IncompleteType, RelayRefType, TensorType, TupleType, Type, TypeKind, TypeVar)
from . import affine_type, attrs, container, memory_pools, names, tensor_type, type_relation
from .._ffi_names import Node
from .affine_type import TensorAffineType, TupleAffineType
from .container import Array, Map
from .memory_pools import (ConstantMemoryPools, ConstantPoolInfo, PoolInfo, PoolInfoProperties, WorkspaceMemoryPools,
                           WorkspacePoolInfo)
from .names import EnvFunc, SourceName
from .op import register_intrin_lowering
from .type import PointerType, PrimType
from .type_relation import TypeConstraint, TypeRelation


def __getattr__(name):
    if name in ("supply", "json_compact"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    not_provided(__name__, name)
