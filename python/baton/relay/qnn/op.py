"""Builders of quantised operators, with TVM's signatures."""
from ..._load import core, not_provided
from ...ir.op import register_op_attr
from ...target import Target
from ..expr import Call, Tuple, TupleWrapper, as_expr, const
from ..op.nn.utils import get_pad_tuple2d

SQNN_DTYPE_TO_CODE = {"disable": 0, "int8": 1, "uint8": 2, "int32": 3}


def _make(name, operands, **attrs):
    return Call(core.get_op("qnn." + name), [as_expr(each) for each in operands], core.make_attrs("qnn." + name, attrs))


def _sides(padding):
    """Top, left, bottom, right."""
    if isinstance(padding, int):
        return [padding] * 4
    padding = list(padding)
    return padding * 2 if len(padding) == 2 else padding * 4 if len(padding) == 1 else padding


def quantize(data, output_scale, output_zero_point, axis=-1, out_dtype="int8"):
    """round(data / output_scale) + output_zero_point, clipped to the range of out_dtype."""
    return _make("quantize", [data, output_scale, output_zero_point], axis=axis, out_dtype=out_dtype)


def dequantize(data, input_scale, input_zero_point, axis=-1):
    """(data - input_zero_point) * input_scale."""
    return _make("dequantize", [data, input_scale, input_zero_point], axis=axis)


def requantize(data, input_scale, input_zero_point, output_scale, output_zero_point, axis=-1, rounding="None",
               compute_dtype="None", out_dtype="int8"):
    """`data` with another scale, zero point and element type."""
    return _make("requantize", [data, input_scale, input_zero_point, output_scale, output_zero_point], axis=axis,
                 rounding=rounding, compute_dtype=compute_dtype, out_dtype=out_dtype)


def simulated_quantize(data, output_scale, output_zero_point, axis=-1, out_dtype="int8"):
    """What quantize() gives, as float32."""
    return _make("simulated_quantize", [data, _code(out_dtype), _flat(output_scale), _flat(output_zero_point)], axis=axis)


def simulated_dequantize(data, input_scale, input_zero_point, axis=-1, in_dtype="int8"):
    """What dequantize() gives, of quantised numbers in float32."""
    return _make("simulated_dequantize", [data, _code(in_dtype), _flat(input_scale), _flat(input_zero_point)], axis=axis)


def _code(dtype):
    return const(SQNN_DTYPE_TO_CODE[dtype], "int32") if isinstance(dtype, str) else dtype


def _flat(value):
    from .. import op

    return op.builder("reshape")(value, newshape=[-1])


def conv2d(data, kernel, input_zero_point, kernel_zero_point, input_scale, kernel_scale, kernel_size, channels,
           strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, data_layout="NCHW", kernel_layout="OIHW",
           out_layout="", out_dtype="int32"):
    """nn.conv2d of quantised tensors, into integers."""
    return _make("conv2d", [data, kernel, input_zero_point, kernel_zero_point, input_scale, kernel_scale],
                 strides=list(strides), padding=_sides(padding), dilation=list(dilation), groups=groups,
                 channels=channels, kernel_size=list(kernel_size), data_layout=data_layout,
                 kernel_layout=kernel_layout, out_layout=out_layout, out_dtype=out_dtype)


def conv2d_transpose(data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale, strides=(1, 1),
                     padding=(0, 0), dilation=(1, 1), groups=1, channels=None, kernel_size=None, data_layout="NCHW",
                     kernel_layout="IOHW", out_layout="", output_padding=(0, 0), out_dtype="int32"):
    """nn.conv2d_transpose of quantised tensors, into integers."""
    attrs = {"channels": channels, "kernel_size": list(kernel_size) if kernel_size else None}
    return _make("conv2d_transpose", [data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale],
                 strides=list(strides), padding=_sides(padding), dilation=list(dilation), groups=groups,
                 data_layout=data_layout, kernel_layout=kernel_layout, out_layout=out_layout,
                 output_padding=list(output_padding), out_dtype=out_dtype,
                 **{name: value for name, value in attrs.items() if value is not None})


def dense(data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale, units, out_dtype="int32"):
    """nn.dense of quantised tensors, into integers."""
    return _make("dense", [data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale], units=units,
                 out_dtype=out_dtype)


def batch_matmul(x, y, x_zero_point, y_zero_point, x_scale, y_scale, out_dtype="int32"):
    """nn.batch_matmul of quantised tensors, y transposed, into integers."""
    return _make("batch_matmul", [x, y, x_zero_point, y_zero_point, x_scale, y_scale], out_dtype=out_dtype, transpose_a=False,
                 transpose_b=True)


def concatenate(data, input_scales, input_zero_points, output_scale, output_zero_point, axis):
    """Quantised tensors joined, under one scale and zero point."""
    several = [each if not isinstance(each, (list, tuple)) else Tuple(list(each)) for each in (data, input_scales, input_zero_points)]
    return _make("concatenate", several + [output_scale, output_zero_point], axis=axis)


def leaky_relu(x, alpha, input_scale, input_zero_point, output_scale, output_zero_point):
    """x where it is positive, else alpha * x."""
    return _make("leaky_relu", [x, input_scale, input_zero_point, output_scale, output_zero_point], alpha=alpha)


def _binary(name):
    def build(lhs, rhs, lhs_scale, lhs_zero_point, rhs_scale, rhs_zero_point, output_scale, output_zero_point, lhs_axis=-1,
              rhs_axis=-1):
        return _make(name, [lhs, rhs, lhs_scale, lhs_zero_point, rhs_scale, rhs_zero_point, output_scale, output_zero_point],
                     lhs_axis=lhs_axis, rhs_axis=rhs_axis)

    return _named(build, name)


def _unary(name):
    def build(x, scale, zero_point, output_scale, output_zero_point):
        return Call(core.get_op("qnn." + name), [as_expr(each) for each in (x, scale, zero_point, output_scale, output_zero_point)])

    return _named(build, name)


def _named(build, name):
    build.__name__ = build.__qualname__ = name
    build.__doc__ = core.get_op("qnn." + name).description
    return build


globals().update({_name: _binary(_name) for _name in ("add", "mul", "subtract")})
globals().update({_name: _unary(_name) for _name in ("abs", "erf", "exp", "hardswish", "log", "rsqrt", "sigmoid", "sqrt", "tanh")})


def register_qnn_legalize(op_name, legal_op=None, level=10):
    """f(attrs, inputs, types) -> an expression that takes the call's place, or None: asked by qnn.transform.Legalize."""
    return register_op_attr(op_name, "FTVMQnnLegalize", legal_op, level)


def register_qnn_canonicalize(op_name, legal_op=None, level=10):
    """f(attrs, inputs, types) -> an expression that takes the call's place, or None: asked by qnn.transform.CanonicalizeOps."""
    return register_op_attr(op_name, "FTVMQnnCanonicalize", legal_op, level)


def target_has_sse41(target):
    """Whether a processor of x86, by its name (-mcpu), has SSE 4.1."""
    return core.target_has_sse41(f"llvm -mcpu={target}" if target else "llvm")


class RequantizeConfig:
    """What qnn.requantize means by "None"; a context."""

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


def __getattr__(name):
    if name == "Object":
        from ..._ffi_names import Object

        return Object
    not_provided(__name__, name)
