#pragma once
// What the gradient of an operator is. Attached to operators through OpDef::rules, read by gradient() and
// FirstOrderGradient; the common formulas are in ops/rules/gradient_rules.h.
#include <functional>
#include <string>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

struct GradientRule {
  /// The adjoint of every argument of `call`, given the adjoint of its result. `call` and all below it are
  /// typed; its arguments are cheap to use again, `call` itself stands for the value of the result. An
  /// argument whose value cannot change the result by a little (indices, shapes) has an adjoint of zeros. A
  /// tuple argument has a tuple.
  std::function<std::vector<Expr>(const Call& call, const Expr& adjoint)> adjoints;
};

/// The rule of `op`: the one that was registered by hand, or that of its block. Null when it has none.
const GradientRule* gradient_rule(const OpDef& op);
/// Registers a rule by hand: it counts from now on, for `op` in this process. Error when there is no such
/// operator.
void register_gradient(const std::string& op, GradientRule rule);

}  // namespace baton
