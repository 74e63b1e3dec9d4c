#pragma once
// What passes ask functions and their variables.
#include "baton/ir/expr.h"

namespace baton {

/// Whether passes leave alone what is inside: a kernel (Primitive=1), or what another compiler builds.
inline bool is_closed(const FunctionNode& function) {
  return function.is_primitive() || function.attr("Compiler");
}

/// The type that `var` was declared with, else the one that was inferred; null without both.
inline const Type& declared_type(const VarNode& var) {
  return var.annotation() ? var.annotation() : var.checked_type();
}

}  // namespace baton
