#pragma once
// Type relations of tensor operators that other operators share.
#include "baton/ops/relations.h"
#include "baton/ops/tensor/tensor_attrs.h"

namespace baton {

/// Input 0, a tuple of tensors, joined along one axis.
RelationStatus concatenate_relation(RelationContext& ctx, const ConcatenateAttrs& attrs);

/// As many `?` as input `arg`, a vector of known length, has elements; nothing (and `status` set) otherwise.
std::optional<std::vector<Dim>> any_shape(RelationContext& ctx, size_t arg, RelationStatus* status);

}  // namespace baton
