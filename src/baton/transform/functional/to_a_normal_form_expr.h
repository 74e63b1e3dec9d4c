#pragma once
// A-normal form of one expression: ir/analysis/normal_form.h for modules.
#include "baton/ir/expr.h"

namespace baton {

/// The A-normal form of a function or another expression, which may have free variables.
Expr to_a_normal_form_expr(const Expr& expr);

}  // namespace baton
