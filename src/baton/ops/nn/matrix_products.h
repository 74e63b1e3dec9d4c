#pragma once
// Shared by the matrix products and their quantised forms. Names, order and defaults of attributes are
// Relay's; relations use only the first two inputs.
#include <cstdint>
#include <optional>

#include "baton/ir/attrs.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_build.h"

namespace baton {

struct DenseAttrs {
  std::optional<int64_t> units = {};  ///< None: read from the weight
  DType out_dtype = {};               ///< void: as the data
};

struct BatchMatmulAttrs {
  DType out_dtype = {};  ///< void: as the data
  bool transpose_a = false;
  bool transpose_b = false;  ///< Python's relay.nn.batch_matmul passes True
};

template <>
const AttrSchema& attr_schema<DenseAttrs>();

template <>
const AttrSchema& attr_schema<BatchMatmulAttrs>();

/// nn.dense: the weight's type is assigned, (units, k).
RelationStatus dense_relation(RelationContext& ctx, const DenseAttrs& attrs);

/// nn.batch_matmul: two matrices per batch; a batch of 1 is broadcast.
RelationStatus batch_matmul_relation(RelationContext& ctx, const BatchMatmulAttrs& attrs);

/// The adjoints of data and weight of nn.dense, or of an operator like it.
gradients::Adjoints dense_adjoints(const CallNode& call, const Expr& g);

}  // namespace baton
