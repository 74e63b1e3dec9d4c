#pragma once
#include "baton/ops/compute.h"
#include "baton/ops/shared/conv_attrs.h"

namespace baton {

/// `data` (its axes 2 and 3 are height and width) with zeros around it, as stage "pad" whose coordinates
/// start at 0 in the corner of the padding; `data` itself when there is no padding.
Halide::Func packed_pad(Compute& compute, const Tensor& data, const Padding2D& padding);

}  // namespace baton
