#pragma once
// Shared by the forms of the 2-D convolution: types, the direct sum, zero padding of packed data.
#include "baton/ir/op.h"
#include "baton/ir/rules/pass_traits.h"
#include "baton/ops/compute.h"
#include "baton/ops/shared/conv_attrs.h"

namespace baton {

/// nn.conv2d: with `channels` and `kernel_size` given the weight's type is assigned, else it is read and
/// checked.
RelationContext::Status conv2d_relation(RelationContext& ctx, const Conv2DAttrs& attrs);

/// Convolutions with a transformed or packed weight: its type is not checked, `channels` and `kernel_size`
/// are required.
RelationContext::Status packed_conv2d_relation(RelationContext& ctx, const Conv2DAttrs& attrs);

/// Stages "pad" (not for a convolution without padding), "conv2d" (the sum) and "out". All layouts of data,
/// weight and result.
void conv2d_compute(Compute& compute, const Conv2DAttrs& attrs);

/// Whether each result is a sum over one pixel of the data, none of them padding.
bool has_one_tap(const Conv2DAttrs& attrs);

/// H and W of (n, C, H, W) and (n, C, H, W, c).
inline constexpr AxisRange kPixelAxes{2, 3};

/// `data` (with height and width as axes 2 and 3) padded with zeros, as stage "pad" whose coordinates start
/// at 0 in the corner of the padding; `data` itself when there is no padding.
Halide::Func packed_pad(Compute& compute, const Tensor& data, const Padding2D& padding);

}  // namespace baton
