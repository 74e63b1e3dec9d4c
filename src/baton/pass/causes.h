#pragma once
// Which operators of the program something is made for that a pass adds to a value: those that compute it.
#include <map>
#include <string>
#include <string_view>

#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/support/pointer_map.h"

namespace baton {

class Causes {
 public:
  /// `root`: asked when a value is computed by no operator, such as a parameter; then the functions of
  /// `module`.
  explicit Causes(Expr root, const IRModuleNode* module = nullptr)
      : root_(std::move(root)), module_(module) {}
  /// Where `var` is bound by a let: its value is asked in its place.
  void bind(const Var& var, const Expr& value) { bound_.insert(var.get(), value); }
  /// Looks through tuples and variables. Nothing when there is no operator anywhere.
  OriginSet of(const Expr& expr);
  /// made_for(of(expr), reason), or none().
  OriginSet made_for(const Expr& expr, std::string_view reason);

 private:
  /// Of the operators that compute `expr`; none() when none does.
  OriginSet own(const Expr& expr) const;
  const OriginSet& everything();

  Expr root_;
  const IRModuleNode* module_;
  PointerMap<Expr> bound_;
  OriginSet everything_ = OriginSet::none();
  std::map<std::string, OriginSet, std::less<>>
      for_everything_;  // by reason: such a set names the whole program
  bool walked_ = false;
};

}  // namespace baton
