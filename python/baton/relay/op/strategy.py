"""TVM's operator strategies: names that need te raise an error when used. Helpers for shapes and layouts work."""
from ..._refused import fill
from ...target.generic_func import generic_func, override_native_generic_func

__path__ = []  # of modules below it, baton.tvm says why they are missing


def get_const_int(expr):
    """The int that an int, a tir.IntImm or a scalar Constant is; ValueError for others."""
    from ._make import known

    value = known(expr)
    if isinstance(value, float) or not hasattr(value, "__int__"):
        raise ValueError(f"a constant int is expected, not {expr}")
    return int(value)


def get_const_float(expr):
    """The float that a float, a tir.FloatImm or a scalar Constant is; ValueError for others."""
    from ._make import known

    value = known(expr)
    if not hasattr(value, "__float__"):
        raise ValueError(f"a constant float is expected, not {expr}")
    return float(value)


def get_const_tuple(in_tuple):
    """A tuple of ints from extents; dynamic ones (relay.Any) are kept."""
    return tuple(int(each) if hasattr(each, "__int__") else each for each in in_tuple)


def get_float_tuple(in_tuple):
    """A tuple of floats from numbers."""
    return tuple(get_const_float(each) for each in in_tuple)


def _channels(shape, layout, letter, small):
    from_major, from_minor = layout.find(letter), layout.find(small)
    if from_major < 0:
        raise ValueError(f"layout {layout} has no axis {letter}")
    axes = [each for each in layout if each.isalpha()]
    count = shape[axes.index(letter)]
    return count * shape[axes.index(small)] if from_minor >= 0 else count


def get_conv2d_in_channels(data_shape, data_layout):
    """The channels of the data of a convolution: "NCHW", "NHWC", "NCHW4c", .."""
    return int(_channels(get_const_tuple(data_shape), data_layout, "C", "c"))


def get_conv2d_out_channels(kernel_shape, kernel_layout):
    """The channels of the result of a convolution: "OIHW", "HWIO", "OIHW4i8o", .."""
    return int(_channels(get_const_tuple(kernel_shape), kernel_layout, "O", "o"))


def is_depthwise_conv2d(data_shape, data_layout, kernel_shape, kernel_layout, groups):
    """Whether a convolution has as many groups as it has channels, in and out (the kernel in a layout such as "OIHW" or "HWOI")."""
    shape = get_const_tuple(kernel_shape)
    kernel = _channels(shape, kernel_layout, "O", "o")
    per_group = _channels(shape, kernel_layout, "I", "i")
    channels = get_conv2d_in_channels(data_shape, data_layout)
    return channels == kernel * (per_group if groups == channels and kernel != channels else 1) == groups


_NAMES = """
wrap_compute_conv2d wrap_topi_schedule all_class_nms_strategy argsort_strategy argwhere_strategy
batch_matmul_strategy batch_norm_strategy bitserial_conv2d_strategy bitserial_dense_strategy
concatenate_strategy conv1d_strategy conv1d_transpose_strategy conv2d_NCHWc_strategy
conv2d_backward_weight_strategy conv2d_gemm_without_weight_transform_strategy conv2d_strategy
conv2d_transpose_strategy conv2d_winograd_without_weight_transform_strategy conv3d_strategy
conv3d_transpose_strategy conv3d_winograd_without_weight_transform_strategy copy_if_identical
correlation_strategy cumprod_strategy cumsum_strategy deformable_conv2d_strategy dense_pack_strategy
dense_strategy depthwise_conv2d_NCHWc_strategy dilation2d_strategy einsum_strategy fast_softmax_strategy
get_auto_scheduler_rewritten_layout get_meta_schedule_original_shape get_valid_counts_strategy
group_conv1d_strategy invert_permutation_strategy log_softmax_strategy matmul_strategy multibox_prior_strategy
multibox_transform_loc_strategy multinomial_strategy naive_schedule nms_strategy normal_strategy
proposal_strategy roi_align_strategy scatter_add_strategy scatter_nd_strategy scatter_strategy
schedule_adaptive_pool schedule_bitpack schedule_concatenate schedule_conv2d_gemm_weight_transform
schedule_conv2d_winograd_nnpack_weight_transform schedule_conv2d_winograd_weight_transform
schedule_conv3d_winograd_weight_transform schedule_injective schedule_lrn schedule_pad schedule_pool
schedule_pool_grad schedule_reduce schedule_roi_pool schedule_sparse_transpose schedule_transpose
searchsorted_strategy sliding_window_strategy softmax_strategy sort_strategy sparse_add_strategy
sparse_conv2d_strategy sparse_dense_padded_strategy sparse_dense_strategy sparse_fill_empty_rows_strategy
sparse_reshape_strategy stft_strategy threefry_generate_strategy threefry_split_strategy topk_strategy
trilu_strategy uniform_strategy unique_strategy wrap_compute_all_class_nms wrap_compute_argsort
wrap_compute_argwhere wrap_compute_batch_matmul wrap_compute_batch_norm wrap_compute_bitserial_conv2d
wrap_compute_bitserial_dense wrap_compute_concat wrap_compute_conv1d wrap_compute_conv1d_transpose
wrap_compute_conv2d_backward_weight wrap_compute_conv2d_transpose wrap_compute_conv3d
wrap_compute_conv3d_transpose wrap_compute_correlation wrap_compute_deformable_conv2d wrap_compute_dense
wrap_compute_dilation2d wrap_compute_einsum wrap_compute_get_valid_counts wrap_compute_group_conv1d
wrap_compute_invert_permutation wrap_compute_matmul wrap_compute_multibox_prior
wrap_compute_multibox_transform_loc wrap_compute_multinomial wrap_compute_nms wrap_compute_proposal
wrap_compute_roi_align wrap_compute_scanop wrap_compute_scatter wrap_compute_scatter_nd
wrap_compute_searchsorted wrap_compute_sliding_window wrap_compute_softmax wrap_compute_sort
wrap_compute_sparse_add wrap_compute_sparse_conv2d wrap_compute_sparse_dense wrap_compute_sparse_fill_empty_rows
wrap_compute_sparse_reshape wrap_compute_stft wrap_compute_threefry_generate wrap_compute_threefry_split
wrap_compute_topk wrap_compute_trilu wrap_compute_uniform wrap_compute_unique wrap_topi_compute
adreno arm_cpu bifrost cuda generic hexagon hls intel_graphics mali rocm x86
"""
__getattr__ = fill(globals(), "kernels are described with te in TVM, which Baton does not have; they are generated from the "
                   "operators' own definitions", _NAMES)


def __dir__():
    return sorted({*globals(), *_NAMES.split()})
