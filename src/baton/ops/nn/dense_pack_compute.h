#pragma once
#include "baton/ops/compute.h"
#include "baton/ops/nn/dense_attrs.h"

namespace baton {

/// nn.contrib_dense_pack: data (M, K) times a weight (N / n, K, n): stages "dense" (the sum) and "out".
void dense_pack_compute(Compute& compute, const DensePackAttrs& attrs);

}  // namespace baton
