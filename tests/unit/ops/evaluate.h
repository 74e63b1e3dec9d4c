#pragma once
// Runs typed functions by the plain computes of their operators, one call after another.
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// The outputs of `function` (tuples flattened) for `inputs`, one array per parameter. All shapes must be static.
std::vector<NDArray> evaluate(const Function& function, const std::vector<NDArray>& inputs);

}  // namespace baton
