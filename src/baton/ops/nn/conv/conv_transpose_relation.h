#pragma once
#include "baton/ops/nn/conv/conv_nd_attrs.h"
#include "baton/ops/relations.h"

namespace baton {

/// nn.conv2d_transpose: with `channels` and `kernel_size` given the weight's type is assigned, else it is
/// read and checked.
RelationStatus conv2d_transpose_relation(RelationContext& ctx, const Conv2DTransposeAttrs& attrs);

}  // namespace baton
