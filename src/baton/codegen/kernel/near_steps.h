#pragma once
// Strides and dilations that are longer than the tensors they walk over.
#include "baton/ir/expr.h"

namespace baton {

/// `call`, typed and of static shapes, with strides and dilations that fit into 32 bits. One that is not less
/// than every axis with its padding leads to no second position, so its length makes no difference: 2^40 is
/// written as that extent.
Call with_near_steps(const Call& call);

}  // namespace baton
