"""Pattern tables of external compilers. User-defined tables are supported; TVM's are not available.

Names that belong to TVM's tables and to their partition_for_.. can be imported, and raise NotImplementedError when used.
"""
from ...._refused import fill as _fill
from ....ir.transform import PassContext, Sequential
from ....registry import register_func
from ...expr import Call, Constant, GlobalVar, TupleGetItem, const
from ..annotation import compiler_begin, compiler_end
from ..strategy import is_depthwise_conv2d
from .register import get_pattern_table, register_pattern_table

_NAMES = """
partition_for_cutlass partition_for_tensorrt ConvertEquivalents DenseReshapeBiasGeluRewrite
InlineNonComputeIntensivePartitions IsComputeIntensiveGraph LayerNormRewrite LegalizeQnnOpForDnnl RemoveDropout
RemoveDropoutPass ResNetV1Rewrite adaptive_avg_pool2d_checker adaptive_max_pool2d_checker add add_checker
alter_conv alter_conv_transpose append_eltwise_ops arm_compute_lib_pattern_table avg_pool2d avg_pool2d_check
avg_pool_2d_checker avg_pool_3d_checker batch_matmul_checker batch_norm_checker bias_add_checker bias_check
binary_op_pattern binary_op_pattern_with_const check_batch_matmul check_conv check_conv2d
check_conv2d_backward_weight check_conv2d_common check_conv2d_residual check_conv2d_transpose check_dense
check_dilation check_dtype check_gemm clip clml_pattern_table concatenate_checker conv1d_checker conv2d
conv2d_check conv2d_checker conv2d_transpose_checker conv3d_checker conv3d_transpose_checker dense dense_checker
depth_to_space depthwise_conv2d dtype_is_supported expand_dims_checker get_optimal_layout_for_conv
get_optimal_layout_for_conv_transpose get_root_call get_tensorrt_remove_no_mac_subgraphs get_tensorrt_target
get_tensorrt_use_fp16 get_tensorrt_use_implicit_batch_mode get_tensorrt_version global_avg_pool2d
global_avg_pool2d_check global_avg_pool_2d_checker global_max_pool2d global_max_pool2d_check
global_max_pool_2d_checker instance_norm_check is_inline_non_compute_intensive_partitions_enabled
is_supported_trt_type is_valid_subgraph layer_norm_checker layout_transform_checker legalize_group_conv
legalize_pad_avg_pool legalize_qnn_for_dnnl make_and_checker make_batch_matmul_pattern
make_bias_add_pattren_predicate make_conv2d_backward_weight_pattern make_conv2d_pattern
make_conv2d_transpose_pattern make_conv_bias_sum_relu_pattern make_conv_pattern make_dense_bias_gelu_pattern
make_dense_bias_pattern make_dense_bias_sum_pattern make_dense_pattern make_dnnl_pattern make_gelu_pattern
make_gemm_pattern make_predicate make_qnn_conv2d_pattern make_qnn_dense_pattern make_residual_block_pattern
make_sum_pattren_predicate make_trt_version_checker max_pool2d max_pool2d_check max_pool_2d_checker
max_pool_3d_checker maximum multiply_checker pad_checker partition_for_arm_compute_lib partition_for_bnns
partition_for_clml partition_for_ethosn pattern_table preprocess_module proj_five_op_pattern_with_const
prune_dnnl_subgraphs prune_tensorrt_subgraphs qnn_add qnn_concatenate qnn_conv2d qnn_dense reduce_checker
reshape reshape_checker rewrite_dense_bias_gelu_reshape_last rewrite_layer_norm rewrite_resnetv1 softmax_checker
split split_checker squeeze_checker standard_predicate strided_slice_checker tag2layout torchop
transpose_checker unary_op_pattern unary_op_pattern_with_any_tuple
"""
_refused = _fill(globals(), "TVM's pattern tables are not known to Baton: give MergeComposite a pattern table of your own", _NAMES)
_COMPILERS = ("arm_compute_lib", "bnns", "clml", "cmsisnn", "coreml", "cutlass", "dnnl", "ethosn", "ethosu", "libtorch", "tensorrt",
              "vitis_ai")
_OWN = ("partition", "sim")  # of Baton's, not of TVM's
_PATTERNS = ("DFPatternCallback", "is_constant", "is_expr", "is_op", "is_tuple", "is_tuple_get_item", "rewrite", "wildcard")


class OpAttrContext:
    """An attribute of an operator inside `with`, as relay.testing.temp_op_attr.TempOpAttr."""

    def __init__(self, op_name, attr_key, attr_value):
        from ...testing.temp_op_attr import TempOpAttr

        self._attr = TempOpAttr(op_name, attr_key, attr_value)

    def __enter__(self):
        self._attr.__enter__()
        return self

    def __exit__(self, *exception):
        self._attr.__exit__(*exception)


class Available:
    """Availability of an external compiler: none."""

    UNAVAILABLE, SW_ONLY, SW_AND_HW = range(3)


def get_op_name(expr):
    """The name of the operator that a call calls, or ""."""
    name = getattr(getattr(expr, "op", None), "name", "")
    return name


def get_args(expr):
    """The arguments of a call, of the value of a TupleGetItem, or of the call that a composite function makes last."""
    while isinstance(expr, TupleGetItem):
        expr = expr.tuple_value
    return list(expr.args) if isinstance(expr, Call) else []


def get_attrs(expr):
    """The attributes of a call, or of the call that a TupleGetItem takes from; None for others."""
    while isinstance(expr, TupleGetItem):
        expr = expr.tuple_value
    return expr.attrs if isinstance(expr, Call) else None


def get_shape(tensor):
    """The shape of an expression, typed or a variable with a type."""
    return _type_of(tensor).concrete_shape


def get_dtype(tensor):
    """The dtype of an expression, typed or a variable with a type."""
    return _type_of(tensor).dtype


def _type_of(tensor):
    annotation = getattr(tensor, "type_annotation", None)
    return annotation if annotation is not None else tensor.checked_type


def _absent(name, what):
    def answer():
        return False

    answer.__name__ = answer.__qualname__ = name
    answer.__doc__ = f"Whether {what} is there: no."
    return answer


is_tensorrt_compiler_enabled = _absent("is_tensorrt_compiler_enabled", "TensorRT's code generator")
is_tensorrt_runtime_enabled = _absent("is_tensorrt_runtime_enabled", "TensorRT's runtime")
is_arm_compute_runtime_enabled = _absent("is_arm_compute_runtime_enabled", "the runtime of ARM's Compute Library")
is_clml_runtime_enabled = _absent("is_clml_runtime_enabled", "CLML's runtime")


def ethosn_api_version():
    """The version of Ethos-N's driver: none."""
    return ""


supported_post_elts = ()


def ethosn_available():
    """Availability of Ethos-N: none."""
    return Available.UNAVAILABLE


def __getattr__(name):
    import importlib

    if name in _COMPILERS or name in _OWN:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _PATTERNS:
        return getattr(importlib.import_module("baton.relay.dataflow_pattern"), name)
    if name in ("ExprMutator", "ExprVisitor"):
        return getattr(importlib.import_module("baton.relay.expr_functor"), name)
    if name in ("Op", "op"):
        return getattr(importlib.import_module("baton.relay.op"), name)
    if name == "bind_params_by_name":
        from ...build_module import bind_params_by_name

        return bind_params_by_name
    return _refused(name)


def __dir__():
    return sorted({*globals(), *_COMPILERS, *_PATTERNS, "ExprMutator", "ExprVisitor", "Op", "bind_params_by_name", "op", *_NAMES.split()})
