#pragma once
// What is known when a program is compiled.
#include "baton/ir/expr.h"

namespace baton {

/// Whether `expr` is a constant, or a tuple of such; the empty tuple is none.
bool is_value(const Expr& expr);
/// The same where an empty tuple is one too.
bool is_constant_value(const Expr& expr);

}  // namespace baton
