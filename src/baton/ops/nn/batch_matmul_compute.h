#pragma once
#include "baton/ops/compute.h"
#include "baton/ops/nn/dense_attrs.h"

namespace baton {

/// Stage "batch_matmul". A batch of 1 serves all of the other side.
void batch_matmul_compute(Compute& compute, const BatchMatmulAttrs& attrs);

}  // namespace baton
