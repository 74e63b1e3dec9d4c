"""Rules of FakeQuantizationToInteger. Those of Baton's operators are C++; here are helpers for rules written in Python."""
from ...ir import TensorAffineType, TupleAffineType
from ..expr import const
from ..op import register_fake_quantization_to_integer
from ..transform import FoldConstantExpr

__all__ = ["TensorAffineType", "TupleAffineType", "fold_constant", "get_zeros", "infer_shape", "register_fake_quantization_to_integer",
           "register_unary_identity"]


def fold_constant(expr):
    """The expression with constants folded."""
    from ...ir import IRModule

    return FoldConstantExpr(expr, IRModule())


def get_zeros(scale):
    """Zero points, int32 zeros of the shape of `scale`."""
    import numpy as np

    return const(np.zeros(infer_shape(scale), "int32"), "int32")


def infer_shape(expr):
    """The shape of a tensor expression."""
    from . import InferTypeLocal

    return InferTypeLocal(expr).concrete_shape


def register_unary_identity(op_name):
    """Makes `op_name`, of one argument, work on quantised numbers as it does on others: they keep their affine type."""
    def identity(expr, type_map):
        return [expr, type_map[expr.args[0]]]

    return register_fake_quantization_to_integer(op_name, identity)
