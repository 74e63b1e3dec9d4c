"""Operators of integers as tables: what quantised elementwise operators of at most 8 bits are lowered to."""
from ... import op as _op
from ...expr import const
from ...op._make import known


def run_const_expr(expr):
    """The value of `expr`, an expression of constants: a numpy array."""
    from ...transform import FoldConstantExpr
    from ....ir import IRModule

    return FoldConstantExpr(expr, IRModule()).data.numpy()


def create_integer_lookup_table(floating_point_func, input_scale, input_zero_point, output_scale, output_zero_point, in_axis=-1,
                                out_axis=-1, in_dtype="uint8", out_dtype="uint8"):
    """The table, a numpy array, of `floating_point_func` (arrays to arrays) between integers of these scales and zero points.

    Entry i is for the input whose bits, read as unsigned, are i. input_scale, input_zero_point, output_scale, output_zero_point:
    constants of rank 0; in_axis and out_axis do not matter to these. TypeError where in_dtype or out_dtype has not 8 bits.
    """
    import numpy as np

    if not all(np.issubdtype(each, np.integer) and np.iinfo(each).bits == 8 for each in (in_dtype, out_dtype)):
        raise TypeError(f"create_integer_lookup_table: integers of 8 bits are expected, not {in_dtype} and {out_dtype}")
    inputs = np.arange(256, dtype="uint8").view(in_dtype)
    floats = (inputs.astype("float32") - np.float32(_number(input_zero_point))) * np.float32(_number(input_scale))
    found = np.asarray(floating_point_func(floats), "float32")
    limits = np.iinfo(out_dtype)
    scaled = np.round(found / np.float32(_number(output_scale)) + np.float32(_number(output_zero_point)))
    return np.clip(scaled, limits.min, limits.max).astype(out_dtype)


def create_integer_lookup_op(input_arg, floating_point_func, in_scale, in_zero_point, out_scale, out_zero_point, in_axis=-1,
                             out_axis=-1, in_dtype="uint8", out_dtype="uint8"):
    """`input_arg`, reinterpreted as unsigned, as index of the table of create_integer_lookup_table, which has the other parameters:
    floating_point_func, in_scale, in_zero_point, out_scale, out_zero_point, in_axis, out_axis, in_dtype, out_dtype."""
    table = create_integer_lookup_table(floating_point_func, in_scale, in_zero_point, out_scale, out_zero_point, in_axis, out_axis,
                                        in_dtype, out_dtype)
    index = _op.reinterpret(input_arg, "uint8") if in_dtype != "uint8" else input_arg
    return _op.take(const(table), index, axis=0, mode="fast")


def _number(value):
    found = known(value)
    if found is None:
        found = run_const_expr(value).item()
    return found
