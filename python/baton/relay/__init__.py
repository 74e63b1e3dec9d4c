"""The language: expressions, operators, passes, building and running."""
from .._load import core, not_provided

from . import (ty, expr, function, adt, op, annotation, build_module, transform, analysis, qnn, quantize, frontend, param_dict,
               dataflow_pattern)
from ..ir import SourceName, Span, TypeConstraint, TypeRelation
from .build_module import bind_params_by_name, build, create_executor, optimize
from .adt import (Clause, Constructor, Match, Pattern, PatternConstructor, PatternTuple, PatternVar, PatternWildcard)
from .expr import (Call, Constant, Expr, GlobalVar, If, Let, RefCreate, RefRead, RefWrite, RelayExpr, Tuple, TupleGetItem,
                   TupleWrapper, Var, const, var)
from .function import Function
from .op import Op, image, nn, random, vision
from .param_dict import load_param_dict, save_param_dict
from .transform import build_config
from .ty import (Any, FuncType, GlobalTypeVar, IncompleteType, RefType, ShapeVar, TensorType, TupleType, Type, TypeCall,
                 TypeData, TypeKind, TypeVar, scalar_type)

_LATER = ("base", "collage", "data_dep_optimization", "prelude", "reg", "testing")


def __getattr__(name):
    if name in _LATER:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    if name == "Prelude":
        from .prelude import Prelude

        return Prelude
    found = getattr(op, name, None)
    if found is None:
        not_provided(__name__, name)
    globals()[name] = found
    return found


def __dir__():
    return sorted({*globals(), *_LATER, "Prelude", *dir(op)})
