#pragma once
// Automatic differentiation: transforms a function to also return the gradient of its result with respect to
// its parameters.
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/ir/rules/gradient_rule.h"
#include "baton/pass/pass.h"
#include "baton/support/pointer_map.h"

namespace baton {

enum class GradientMode {
  kFirstOrder,   ///< dataflow only; the result is dataflow again
  kHigherOrder,  ///< also control flow, closures, references and recursion; adjoints are stored in references
};

/// "first_order" or "higher_order"; UsageError for anything else.
GradientMode gradient_mode(const std::string& name);

/// fn(p..) { r } -> fn(p..) { (r, (dr/dp, ..)) }, the gradient of the sum of all elements of the result. An
/// untyped `function` is inferred first; the result is untyped. `module` resolves calls and may be null;
/// kHigherOrder adds the gradient functions, named @f_grad.
Function gradient(const Function& function, const IRModule& module, GradientMode mode);

/// The two modes, for typed functions.
Function first_order_gradient(const Function& function, const IRModule& module);
Function higher_order_gradient(const Function& function, const IRModule& module);

/// The adjoints from the operator's gradient rule, one per argument. NotSupported, naming the operator, when
/// it has none.
std::vector<Expr> adjoints_of(const Call& call, const Expr& adjoint);

/// The causes for nodes that the gradient adds, per node of the program: its own origins, else those of the
/// first user that has some, else those of its operands. Empty only when the whole program has no operator.
class GradientCauses {
 public:
  /// `module`: resolves functions called by `root`; their operators are used when `root` has none.
  GradientCauses(const Expr& root, const IRModule& module);
  bool empty() const { return any_.empty(); }
  /// Causes for nodes added for a parameter, a constant or the result: initial zeros and ones.
  OriginSet seed(const Expr& node) const;
  /// The origins of an operator; seed() for other nodes.
  OriginSet own(const Expr& node) const { return node->origins().empty() ? seed(node) : node->origins(); }

 private:
  PointerMap<OriginSet> of_;
  OriginSet any_ = OriginSet::none();
};

/// An OriginScope, except for programs without operators: no cause exists there, so the gradient's operator
/// calls get fresh Origins, which is only allowed outside passes.
class CauseScope {
 public:
  explicit CauseScope(OriginSet origins) {
    if (!origins.empty()) scope_.emplace(std::move(origins));
  }

 private:
  std::optional<OriginScope> scope_;
};

}  // namespace baton
