#pragma once
// Automatic differentiation: from a function to one that also returns the gradient of its result by its
// parameters.
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
  kHigherOrder,  ///< control flow, closures, references and recursion, too; adjoints live in references
};

/// "first_order" or "higher_order"; UsageError for anything else.
GradientMode gradient_mode(const std::string& name);

/// fn(p..) { r }  ->  fn(p..) { (r, (dr/dp, ..)) }, where dr is the sum over all elements of the result.
/// `function` is inferred when it has no types; the result has none. `module`: for functions that it calls;
/// kHigherOrder adds their counterparts, named @f_grad. Null when there are none.
Function gradient(const Function& function, const IRModule& module, GradientMode mode);

/// The two ways, for typed functions.
Function first_order_gradient(const Function& function, const IRModule& module);
Function higher_order_gradient(const Function& function, const IRModule& module);

/// The adjoints that the rule of the operator gives, one per argument. NotSupported, naming the operator,
/// when it has none.
std::vector<Expr> adjoints_of(const Call& call, const Expr& adjoint);

/// For whose sake the nodes of a program are there: their own origins, else those of the first user that has
/// some, else of what they are made of. Nothing only when the whole program has no operator.
class GradientCauses {
 public:
  /// `module`: where the functions are that `root` calls; they count when `root` has no operator of its own.
  GradientCauses(const Expr& root, const IRModule& module);
  bool empty() const { return any_.empty(); }
  /// What the gradient adds on its own to a parameter, a constant or the result: zeros and ones to start
  /// with.
  OriginSet seed(const Expr& node) const;
  /// The origins of an operator; for other nodes as seed().
  OriginSet own(const Expr& node) const { return node->origins().empty() ? seed(node) : node->origins(); }

 private:
  PointerMap<OriginSet> of_;
  OriginSet any_ = OriginSet::none();
};

/// An OriginScope, unless there is nothing to stand for: in a program without any operator the calls of its
/// gradient are the user's own, and may be made outside of passes only.
class CauseScope {
 public:
  explicit CauseScope(OriginSet origins) {
    if (!origins.empty()) scope_.emplace(std::move(origins));
  }

 private:
  std::optional<OriginScope> scope_;
};

}  // namespace baton
