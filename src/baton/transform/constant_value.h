#pragma once
// Compile-time constant expressions.
#include "baton/ir/expr.h"

namespace baton {

/// Whether `expr` is a constant, or a tuple of constant expressions; false for the empty tuple.
bool is_value(const Expr& expr);
/// The same, but true for the empty tuple.
bool is_constant_value(const Expr& expr);

}  // namespace baton
