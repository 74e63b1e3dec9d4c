#pragma once
// Gradient rules of operators. Attached through OpDef::rules, read by gradient() and FirstOrderGradient;
// common formulas are in ops/rules/gradient_rules.h.
#include <functional>
#include <string>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

struct GradientRule {
  /// The adjoint of every argument of `call`, given the adjoint of its result. `call` and its operands are
  /// typed; its arguments are cheap to reuse, and `call` itself may be used as the value of the result. An
  /// argument that the result is not differentiable in (indices, shapes) has an adjoint of zeros. A tuple
  /// argument has a tuple.
  std::function<std::vector<Expr>(const Call& call, const Expr& adjoint)> adjoints;
};

/// The gradient rule of `op`: the registered one, else that of its block; null when it has none.
const GradientRule* gradient_rule(const OpDef& op);
/// Registers a rule for `op`, which overrides its block's in this process. Throws Error when there is no such
/// operator.
void register_gradient(const std::string& op, GradientRule rule);

}  // namespace baton
