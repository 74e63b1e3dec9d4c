#pragma once
// The symbolic extents that a kernel is told when it is called.
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// The variables of extents of a typed function, in the order of their first use: parameters, then the result.
std::vector<Dim> kernel_extents(const FunctionNode& function);

}  // namespace baton
