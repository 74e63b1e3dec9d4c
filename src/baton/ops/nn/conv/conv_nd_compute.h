#pragma once
// Convolutions over any number of spatial axes, plain and transposed, their gradient by the weight, the
// deformable one.
#include <string>
#include <vector>

#include "baton/ir/layout.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/nn/conv/conv_nd_attrs.h"
#include "baton/ops/shared/conv_attrs.h"
#include "baton/ops/shared/pool_nd_compute.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

/// What the convolutions' attributes have in common.
struct ConvNd {
  int count = 0;  ///< spatial axes
  Layout data_layout, kernel_layout, out_layout;
  std::vector<int64_t> strides, dilation, before, after;
  int64_t groups = 1;
};

template <class A>
ConvNd conv_nd(const A& attrs, int count) {
  ConvNd conv{count,
              *Layout::parse(attrs.data_layout),
              *Layout::parse(attrs.kernel_layout),
              *Layout::parse(attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout),
              attrs.strides,
              attrs.dilation,
              {},
              {},
              attrs.groups};
  split_padding(attrs.padding, static_cast<size_t>(count), &conv.before, &conv.after);
  return conv;
}

/// Stages "pad" (if there is padding), "conv" and "out".
void conv_nd_compute(Compute& c, const ConvNd& conv);
/// `kernel_letters` names the weight's axes in the order (groups,) input channels, output channels of a
/// group, spatial.
void conv_transpose_compute(Compute& c, const ConvNd& conv, const std::string& kernel_letters);
/// Inputs: gradient by the result, data. Here kernel_layout is the data's layout and out_layout the weight's.
void conv2d_backward_weight_compute(Compute& c, const Conv2DAttrs& attrs);
void deformable_conv2d_compute(Compute& c, const DeformableConv2DAttrs& attrs);

}  // namespace baton
