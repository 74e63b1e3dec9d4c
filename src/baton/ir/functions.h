#pragma once
// Queries on functions and their variables.
#include "baton/ir/expr.h"

namespace baton {

/// Whether most passes skip the body: a primitive function (Primitive=1), or one for an external compiler
/// (Compiler=...).
inline bool is_closed(const FunctionNode& function) {
  return function.is_primitive() || function.attr("Compiler");
}

/// The annotated type of `var`, else the inferred one; null when it has neither.
inline const Type& declared_type(const VarNode& var) {
  return var.annotation() ? var.annotation() : var.checked_type();
}

}  // namespace baton
