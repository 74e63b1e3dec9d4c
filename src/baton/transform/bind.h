#pragma once
// Substitution of values for variables.
#include <unordered_map>

#include "baton/ir/expr.h"

namespace baton {

/// `expr` with variables replaced. For a function, bound parameters are removed, and free variables newly
/// introduced by the values become parameters after the rest; its annotations and attributes are kept.
Expr bind_vars(const Expr& expr, const std::unordered_map<const ExprNode*, Expr>& values);

}  // namespace baton
