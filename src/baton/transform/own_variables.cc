#include "baton/transform/own_variables.h"

#include <algorithm>

#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"

namespace baton {

namespace {

class Copier final : public Rewriter {
 public:
  Copier(const Expr& expr, const std::unordered_map<const ExprNode*, Expr>& values) {
    for (const auto& [node, value] : values) map(Expr(node), value);
    for (const Var& var : bound_vars(expr))
      own_.insert(var.get(), make_var(var->name(), var->annotation(), var->info()));
  }

 private:
  bool enter(const Expr&) override { return true; }
  Var rewrite_var(const Var& var) override {
    const Var* own = own_.find(var.get());
    return own ? *own : var;
  }

  PointerMap<Var> own_;
};

}  // namespace

Expr with_own_variables(const Expr& expr, const std::unordered_map<const ExprNode*, Expr>& values) {
  return Copier(expr, values).run(expr);
}

void separate_variables(IRModuleNode& module, const std::map<std::string, Function>& kept) {
  PointerSet bound;
  for (const auto& [name, function] : kept)
    for (const Var& var : bound_vars(Expr(function))) bound.insert(var.get());
  const auto functions = module.functions();
  for (const auto& [name, function] : functions) {
    if (kept.count(name)) continue;
    const std::vector<Var> vars = bound_vars(Expr(function));
    const bool shared =
        std::any_of(vars.begin(), vars.end(), [&](const Var& var) { return bound.contains(var.get()); });
    for (const Var& var : vars) bound.insert(var.get());
    if (shared) module.replace(name, as_ref<FunctionNode>(with_own_variables(Expr(function))));
  }
}

}  // namespace baton
