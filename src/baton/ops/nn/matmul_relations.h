#pragma once
// Types of the matrix products. Inputs after the first two are not looked at.
#include "baton/ops/nn/dense_attrs.h"
#include "baton/ops/relations.h"

namespace baton {

/// nn.dense: the weight's type is assigned, (units, k).
RelationStatus dense_relation(RelationContext& ctx, const DenseAttrs& attrs);
/// nn.batch_matmul: two matrices per batch; a batch of 1 is broadcast.
RelationStatus batch_matmul_relation(RelationContext& ctx, const BatchMatmulAttrs& attrs);

}  // namespace baton
