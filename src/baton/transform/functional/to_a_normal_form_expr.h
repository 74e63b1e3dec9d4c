#pragma once
// A-normal form of one expression: ir/analysis/normal_form.h for modules.
#include "baton/ir/expr.h"

namespace baton {

/// A function, or any other expression, which may use variables from around it, in A-normal form.
Expr to_a_normal_form_expr(const Expr& expr);

}  // namespace baton
