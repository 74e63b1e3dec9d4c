"""relay.op: operators, with builders of TVM's names and signatures, and what can be registered for them."""
from ..._load import core, not_provided
from ...ir.op import register_op_attr
from ..expr import Constant, Expr, Tuple, TupleWrapper, const
from ._make import NAMES, builder
from .op import (OpPattern, OpStrategy, debug, get, register_alter_op_layout, register_compute, register_external_compiler,
                 register_fake_quantization_to_integer, register_gradient, register_legalize,
                 register_mixed_precision_conversion, register_pattern)
from . import op, tensor, transform, reduce, algorithm  # noqa: A004
from . import annotation, dyn, image, nn, random, vision

Op = core.Op
_PARTS = (tensor, transform, reduce, algorithm)
_LATER = ("contrib", "memory", "op_attrs", "strategy", "vm")


def __getattr__(name):
    if name in _LATER:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    for part in _PARTS:
        if name in dir(part):
            globals()[name] = found = getattr(part, name)
            return found
    if name in NAMES:
        return builder(name)
    not_provided(__name__, name)


def __dir__():
    return sorted({*globals(), *_LATER, *(each for part in _PARTS for each in dir(part)), *(each for each in NAMES if "." not in each)})
