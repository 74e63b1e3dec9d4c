#pragma once
// Finds the `causes` of a node that a pass adds: the operators that compute the value it is added to.
#include <map>
#include <string>
#include <string_view>

#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/support/pointer_map.h"

namespace baton {

class Causes {
 public:
  /// For a value computed by no operator, such as a parameter, the operators of `root` are used, then those
  /// of the functions of `module`.
  explicit Causes(Expr root, const IRModuleNode* module = nullptr)
      : root_(std::move(root)), module_(module) {}
  /// Records a let binding: `var` is resolved to `value`.
  void bind(const Var& var, const Expr& value) { bound_.insert(var.get(), value); }
  /// Looks through tuples and variables. Empty when the program has no operators.
  OriginSet of(const Expr& expr);
  /// made_for(of(expr), reason), or none().
  OriginSet made_for(const Expr& expr, std::string_view reason);

 private:
  /// The operators that compute `expr`; none() when there are none.
  OriginSet own(const Expr& expr) const;
  const OriginSet& everything();

  Expr root_;
  const IRModuleNode* module_;
  PointerMap<Expr> bound_;
  OriginSet everything_ = OriginSet::none();
  std::map<std::string, OriginSet, std::less<>>
      for_everything_;  // by reason; each set covers the whole program
  bool walked_ = false;
};

}  // namespace baton
