#pragma once
// Programs with values in the place of variables.
#include <unordered_map>

#include "baton/ir/expr.h"

namespace baton {

/// `expr` with variables replaced. Of a function, those parameters go away, and what the values have free
/// that `expr` had not becomes parameters behind the rest; its annotations and attributes stay.
Expr bind_vars(const Expr& expr, const std::unordered_map<const ExprNode*, Expr>& values);

}  // namespace baton
