#pragma once
// Types of the 2-D convolutions.
#include "baton/ir/op.h"
#include "baton/ops/shared/conv_attrs.h"

namespace baton {

/// The fields that a Winograd convolution has in common with the plain one.
Conv2DAttrs plain_attrs(const Conv2DWinogradAttrs& attrs);

/// nn.conv2d: with `channels` and `kernel_size` given the weight's type is assigned, else it is read and
/// checked.
RelationContext::Status conv2d_relation(RelationContext& ctx, const Conv2DAttrs& attrs);

/// Convolutions whose weight was transformed or packed: it is not looked at, `channels` and `kernel_size` are
/// needed.
RelationContext::Status packed_conv2d_relation(RelationContext& ctx, const Conv2DAttrs& attrs);

}  // namespace baton
