"""What operators compute, in numpy: references for tests, under the names of tvm.topi.testing.

Each takes and returns numpy arrays. Functions of tvm.topi.testing that make schedules are not provided.
"""
from ..._refused import fill as _fill
from .convolution import (conv1d_ncw_python, conv1d_transpose_ncw_python, conv2d_backward_weight_python, conv2d_hwcn_python,
                          conv2d_nchw_python, conv2d_nhwc_python, conv2d_transpose_nchw_python, conv2d_transpose_nhwc_python,
                          conv3d_ncdhw_python, conv3d_ndhwc_python, conv3d_transpose_ncdhw_python, correlation_nchw_python,
                          depthwise_conv2d_python_nchw, depthwise_conv2d_python_nchwc, depthwise_conv2d_python_nhwc,
                          group_conv1d_ncw_python, group_conv1d_transpose_ncw_python)
from .image import (affine_grid_python, crop_and_resize_python, grid_sample_nchw_python, grid_sample_python, resize1d_python,
                    resize2d_python, resize3d_python)
from .layout import (batch_to_space_nd_python, depth_to_space_python, dilate_python, reorg_python, space_to_batch_nd_python,
                     space_to_depth_python, strided_set_python, strided_slice_python)
from .nn import (adaptive_pool, batch_matmul, batch_norm, dense, group_norm_python, instance_norm_python, l2_normalize_python,
                 layer_norm_python, log_softmax_python, lrn_python, lstm_python, nll_loss, pool_grad_nchw, poolnd_python,
                 softmax_python)
from .regions import deformable_conv2d_nchw_python, deformable_conv2d_nhwc_python, roi_align_nchw_python, roi_align_nhwc_python, \
    roi_pool_nchw_python
from .tensor import (gather_nd_python, gather_python, matrix_set_diag, one_hot, searchsorted_ref, sequence_mask, slice_axis_python)

__getattr__ = _fill(globals(), "Baton has no schedules of tensor expressions: kernels are generated from the operators' own definitions")
