#pragma once
#include "baton/ops/compute.h"
#include "baton/ops/nn/conv/conv_nd_attrs.h"
#include "baton/ops/shared/conv_attrs.h"

namespace baton {

/// Weight (O, I, 3, 3, 3) -> (a, a, a, O, I), a = tile_size + 2; (O, I, d, 3, 3) -> (a, a, d, O, I) for other
/// depths.
void winograd3d_weight_compute(Compute& c, const ConvWinogradWeightTransformAttrs& attrs);
/// Strides and dilations of 1, one group; the weight is a result of the above.
void conv3d_winograd_compute(Compute& c, const Conv3DWinogradAttrs& attrs);

}  // namespace baton
