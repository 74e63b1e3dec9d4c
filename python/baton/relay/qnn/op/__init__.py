"""Builders of quantised operators, with TVM's signatures."""
from ...._aliases import same as _same
from ...._load import core
from ....ir.op import register_op_attr
from ....target import Target
from ...expr import Tuple, TupleWrapper, const
from ...op import _make as _build
from ...op._make import call
from ...op.nn.utils import get_pad_tuple2d
from . import _make

_GETATTR, __dir__ = _build.fill(globals(), "qnn")
SQNN_DTYPE_TO_CODE = {"disable": 0, "int8": 1, "uint8": 2, "int32": 3}


_same(globals(), "qnn", "op", "legalizations", "layout_conversions")


def __getattr__(name):
    if name == "Object":
        from ...._ffi_names import Object

        return Object
    return _GETATTR(name)


def simulated_quantize(data, output_scale, output_zero_point, axis=-1, out_dtype="int8"):
    """The result of quantize(), as float32. out_dtype: a str, or an expression of its number in SQNN_DTYPE_TO_CODE."""
    return call("qnn.simulated_quantize", [data, _code(out_dtype), _flat(output_scale), _flat(output_zero_point)], axis=axis)


def simulated_dequantize(data, input_scale, input_zero_point, axis=-1, in_dtype="int8"):
    """The result of dequantize(), of quantised numbers in float32. in_dtype: as out_dtype of simulated_quantize."""
    return call("qnn.simulated_dequantize", [data, _code(in_dtype), _flat(input_scale), _flat(input_zero_point)], axis=axis)


def _code(dtype):
    return const(SQNN_DTYPE_TO_CODE[dtype], "int32") if isinstance(dtype, str) else dtype


def _flat(value):
    return call("reshape", [value], newshape=[-1])


def concatenate(data, input_scales, input_zero_points, output_scale, output_zero_point, axis):
    """Quantised tensors joined, under one scale and zero point. Lists, or expressions that are tuples."""
    return call("qnn.concatenate", [data, input_scales, input_zero_points, output_scale, output_zero_point], axis=axis)


def leaky_relu(x, alpha, input_scale, input_zero_point, output_scale, output_zero_point):
    """x where it is positive, else alpha * x."""
    return call("qnn.leaky_relu", [x, input_scale, input_zero_point, output_scale, output_zero_point], alpha=alpha)


def batch_matmul(x, y, x_zero_point, y_zero_point, x_scale, y_scale, out_dtype="int32"):
    """nn.batch_matmul of quantised tensors, y transposed, into integers."""
    return call("qnn.batch_matmul", [x, y, x_zero_point, y_zero_point, x_scale, y_scale], out_dtype=out_dtype, transpose_a=False,
                transpose_b=True)


def register_qnn_legalize(op_name, legal_op=None, level=10):
    """`legal_op`: f(attrs, inputs, types) -> what takes the call's place, or None: asked by qnn.transform.Legalize."""
    return register_op_attr(op_name, "FTVMQnnLegalize", legal_op, level)


def register_qnn_canonicalize(op_name, legal_op=None, level=10):
    """`legal_op`: f(attrs, inputs, types) -> what takes the call's place, or None: asked by qnn.transform.CanonicalizeOps."""
    return register_op_attr(op_name, "FTVMQnnCanonicalize", legal_op, level)


def target_has_sse41(target):
    """Whether a processor of x86, by its name (`target`, as in -mcpu), has SSE 4.1."""
    return core.target_has_sse41(f"llvm -mcpu={target}" if target else "llvm")


def hardswish_func(x):
    """hardswish of a numpy array, as tests compare with it."""
    import numpy as np

    return x * np.clip(x + 3.0, 0.0, 6.0) / 6.0


class RequantizeConfig:
    """The defaults of qnn.requantize for "None"; a context manager."""

    def __init__(self, rounding="UPWARD", compute_dtype="None"):
        self.rounding, self.compute_dtype = rounding, compute_dtype

    def __enter__(self):
        core.enter_requantize_config(self.rounding, self.compute_dtype)
        return self

    def __exit__(self, *exception):
        core.exit_requantize_config()


def requantize_config(**kwargs):
    """RequantizeConfig(rounding=, compute_dtype=): UPWARD or TONEAREST, and int64, float32 or float64."""
    return RequantizeConfig(**kwargs)


def current_requantize_config():
    """The innermost RequantizeConfig that was entered, or the defaults."""
    return RequantizeConfig(*core.current_requantize_config())


_build.explain(globals(), "qnn.")
