#pragma once
// Merges structurally equal programs into one.
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// `expr` with the origins of the corresponding nodes in `equal` merged into each node. All must be
/// structurally equal.
Expr merge_origins(const Expr& expr, const std::vector<Expr>& equal);

}  // namespace baton
