"""The language: expressions, operators, passes, building and running."""
from .._load import core, not_provided

from . import (ty, expr, function, adt, op, annotation, build_module, transform, analysis, qnn, quantize, frontend, param_dict,
               dataflow_pattern, expr_functor, loops, scope_builder, type_functor)
from .build_module import bind_params_by_name, build, create_executor, optimize
from .adt import (Clause, Constructor, Match, Pattern, PatternConstructor, PatternTuple, PatternVar, PatternWildcard)
from .expr import (Call, Constant, Expr, GlobalVar, If, Let, RefCreate, RefRead, RefWrite, RelayExpr, Tuple, TupleGetItem,
                   TupleWrapper, Var, bind, const, var)
from .expr_functor import ExprFunctor, ExprMutator, ExprVisitor
from .function import Function
from .op import Op, device_copy, image, nn, vision
from .param_dict import load_param_dict, save_param_dict
from .scope_builder import ScopeBuilder
from .ty import (Any, FuncType, GlobalTypeVar, IncompleteType, RefType, ShapeVar, TensorType, TupleType, Type, TypeCall,
                 TypeData, TypeKind, TypeVar, scalar_type)
from .type_functor import TypeFunctor, TypeMutator, TypeVisitor


def __getattr__(name):
    if name == "testing":
        import importlib

        return importlib.import_module(__name__ + ".testing")
    if name in ("backend", "vm"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    if name == "prelude":
        import importlib

        return importlib.import_module(__name__ + ".prelude")
    if name == "Prelude":
        from .prelude import Prelude

        return Prelude
    if name in _LATER:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    found = getattr(op, name, None)
    if found is None:
        not_provided(__name__, name)
    globals()[name] = found
    return found


# Behind the functions: what is in here by way of other modules.
from ..ir import SourceName, Span, TypeConstraint, TypeRelation  # noqa: E402
from .op import random  # noqa: E402
from .transform import build_config  # noqa: E402

_LATER = ("base", "collage", "data_dep_optimization", "reg")


def __dir__():
    return sorted({*globals(), *_LATER, "Prelude", "prelude", "testing", *dir(op)})
