#pragma once
#include "baton/ops/relations.h"
#include "baton/ops/tensor/tensor_attrs.h"

namespace baton {

/// concatenate: input 0 is a tuple of tensors that differ along the axis at most. Other inputs are not looked at.
RelationStatus concatenate_relation(RelationContext& ctx, const ConcatenateAttrs& attrs);

}  // namespace baton
