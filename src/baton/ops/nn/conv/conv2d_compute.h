#pragma once
#include "baton/ops/compute.h"
#include "baton/ops/shared/conv_attrs.h"

namespace baton {

/// Stages "pad" (not for a convolution without padding), "conv2d" (the sum) and "out". All layouts of data,
/// weight and result.
void conv2d_compute(Compute& compute, const Conv2DAttrs& attrs);

}  // namespace baton
