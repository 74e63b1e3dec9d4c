#pragma once
// Shared by the transposed convolutions, their computes, and the quantised form.
#include "baton/ops/relations.h"
#include "baton/ops/shared/conv_attrs.h"

namespace baton {

/// The attributes of transposed convolutions. The weight for one and three axes is interpreted as (in, out,
/// ...), although its layout says OI, as in Relay 0.11.
template <int kAxes>
struct ConvTransposeAttrs : ConvAttrs<kAxes> {
  std::vector<int64_t> output_padding = std::vector<int64_t>(kAxes, 0);
  ConvTransposeAttrs() { this->padding = std::vector<int64_t>(kAxes, 0); }
};
using Conv1DTransposeAttrs = ConvTransposeAttrs<1>;
using Conv2DTransposeAttrs = ConvTransposeAttrs<2>;
using Conv3DTransposeAttrs = ConvTransposeAttrs<3>;

template <>
const AttrSchema& attr_schema<Conv2DTransposeAttrs>();

/// nn.conv2d_transpose: with `channels` and `kernel_size` given the weight's type is assigned, else it is
/// read and checked.
RelationStatus conv2d_transpose_relation(RelationContext& ctx, const Conv2DTransposeAttrs& attrs);

class Compute;
struct ConvNd;

/// Computes a transposed convolution as one ordinary convolution per phase, the position of a result modulo
/// the strides: no product with one of the zeros between the elements of the data. Stages "pad" (zeros at
/// both ends of the rows; not in all forms), "phases" (the sums: result x is at x / stride of phase
/// x % stride) and "out". `kernel_letters`: the weight's axes in the order (groups,) input channels, output
/// channels of a group, spatial. Returns false, and makes no stage, where another form is needed: other
/// types than float32, tensors without elements, dilation together with strides, other layouts than
///   NCHW, and any order of the weight's axes, or
///   NCHW{i}c, NCHW{o}c, and OHWI{o}o (depthwise: {i} = {o}, OHWI{i}i); likewise with 1 and 3 axes.
bool conv_transpose_by_phases(Compute& c, const ConvNd& conv, const std::string& kernel_letters);

}  // namespace baton
