#pragma once
// Shared by nn.conv2d_transpose and its quantised form.
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

}  // namespace baton
