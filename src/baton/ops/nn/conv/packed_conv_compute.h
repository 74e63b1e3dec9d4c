#pragma once
// The packed convolutions in the form that the schedule templates know: the reduction runs over (block of
// input channels, kernel row, kernel column, channel in the block), innermost last.
#include "baton/ops/compute.h"
#include "baton/ops/shared/conv_attrs.h"

namespace baton {

/// nn.contrib_conv2d_NCHWc. Data NCHW{i}c, weight OIHW{i}i{o}o, result NCHW{o}c: stages "pad" (only with
/// padding), "conv2d" (the sum) and "out". Other layouts and groups: conv2d_compute.
void conv2d_nchwc_compute(Compute& compute, const Conv2DAttrs& attrs);

/// nn.contrib_depthwise_conv2d_NCHWc. Data and result NCHW{c}c, weight OIHW1i{c}o, as many groups as
/// channels: stages "pad" (only with padding), "dwconv2d" and "out". Anything else: conv2d_compute.
void depthwise_conv2d_nchwc_compute(Compute& compute, const Conv2DAttrs& attrs);

/// nn.contrib_conv2d_winograd_without_weight_transform: F(m x m, 3 x 3), m = tile_size = 2 or 4, strides 1.
/// Data NCHW{i}c with weight HWOI{i}i{o}o, or data NCHW with weight (a, a, O, I), a = m + 2. Stages: "pad"
/// (only with padding), "in_xf1", "in_xf", "gemm_acc", "gemm", "out_xf1", "out_xf", "out". The difference to
/// the direct sum is below 1e-6 (m = 2) or 1e-5 (m = 4) of the largest output.
void conv2d_winograd_compute(Compute& compute, const Conv2DWinogradAttrs& attrs);

/// nn.contrib_conv2d_winograd_weight_transform: weight (O, I, 3, 3) -> (a, a, O, I). Stages "rows" and
/// "transform".
void winograd_weight_transform_compute(Compute& compute, const ConvWinogradWeightTransformAttrs& attrs);

}  // namespace baton
