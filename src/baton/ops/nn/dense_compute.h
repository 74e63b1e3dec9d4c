#pragma once
#include "baton/ops/compute.h"
#include "baton/ops/nn/dense_attrs.h"

namespace baton {

/// Stages "dense" (the sum) and "out": data of any rank times a weight stored (units, k).
void dense_compute(Compute& compute, const DenseAttrs& attrs);

}  // namespace baton
