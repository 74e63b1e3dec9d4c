#pragma once
// Type relations shared by tensor operators.
#include "baton/ops/relations.h"
#include "baton/ops/tensor/tensor_attrs.h"

namespace baton {

/// Input 0, a tuple of tensors, joined along one axis.
RelationStatus concatenate_relation(RelationContext& ctx, const ConcatenateAttrs& attrs);

/// One `?` per element of input `arg`, a vector of known length; nullopt (with `status` set) otherwise.
std::optional<std::vector<Dim>> any_shape(RelationContext& ctx, size_t arg, RelationStatus* status);

}  // namespace baton
