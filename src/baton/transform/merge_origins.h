#pragma once
// One program in the place of several that are structurally equal.
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// `expr`, every node of which stands also for what its counterparts in `equal` stand for. All must be
/// structurally equal.
Expr merge_origins(const Expr& expr, const std::vector<Expr>& equal);

}  // namespace baton
