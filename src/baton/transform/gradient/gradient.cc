#include "baton/transform/gradient/gradient.h"

#include <set>

#include "baton/ir/build.h"
#include "baton/ir/visit.h"
#include "baton/support/error.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

Function typed(const Function& function, const IRModule& module) {
  return function->checked_type() ? function : as_ref<FunctionNode>(infer_type(Expr(function), module.get()));
}

// Checked inside a pass: all new nodes must have origins or causes that already exist.
void differentiate(const IRModule& module, const std::string& name, GradientMode mode) {
  const Function function = module->find(name);
  if (GradientCauses(Expr(function), module).empty())
    throw NotSupported("@" + name + " has no operator: there is nothing that a pass could differentiate");
  module->replace(name, gradient(function, module, mode));
}

}  // namespace

GradientMode gradient_mode(const std::string& name) {
  if (name == "first_order") return GradientMode::kFirstOrder;
  if (name == "higher_order") return GradientMode::kHigherOrder;
  throw UsageError("mode must be \"first_order\" or \"higher_order\", got \"" + name + "\"");
}

Function gradient(const Function& function, const IRModule& module, GradientMode mode) {
  if (!function->type_params().empty()) throw NotSupported("the gradient of a function with type parameters");
  return mode == GradientMode::kFirstOrder ? first_order_gradient(typed(function, module), module)
                                           : higher_order_gradient(typed(function, module), module);
}

std::vector<Expr> adjoints_of(const Call& call, const Expr& adjoint) {
  const OpDef& op = *call->op();
  const GradientRule* rule = gradient_rule(op);
  if (!rule)
    throw NotSupported("the operator " + op.name + " has no gradient; register_gradient gives it one");
  std::vector<Expr> adjoints = rule->adjoints(call, adjoint);
  if (adjoints.size() != call->args().size())
    throw Error("the gradient of " + op.name + " must have one part for each of its " +
                std::to_string(call->args().size()) + " arguments, got " + std::to_string(adjoints.size()));
  return adjoints;
}

namespace {

// The origins of any operator in the functions referenced by `root`.
OriginSet origins_of_used(const Expr& root, const IRModuleNode& module) {
  OriginSet found = OriginSet::none();
  std::set<std::string> seen;
  std::vector<Expr> todo{root};
  while (found.empty() && !todo.empty()) {
    const Expr next = std::move(todo.back());
    todo.pop_back();
    post_order(next, [&](const Expr& node) {
      if (found.empty()) found = node->origins();
      const auto* name = as<GlobalVarNode>(node);
      const Function function =
          name && seen.insert(name->name()).second ? module.find(name->name()) : Function();
      if (function) todo.push_back(Expr(function));
    });
  }
  return found;
}

}  // namespace

// Stored only for nodes without own origins: variables, constants, tuples, ...
GradientCauses::GradientCauses(const Expr& root, const IRModule& module) {
  std::vector<const ExprNode*> order;
  post_order(root, [&](const Expr& node) {
    order.push_back(node.get());
    if (any_.empty()) any_ = node->origins();
  });
  if (any_.empty() && module) any_ = origins_of_used(root, *module);
  // Users before their operands.
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    const OriginSet* inherited = (*node)->origins().empty() ? of_.find(*node) : nullptr;
    const OriginSet mine = inherited ? *inherited : (*node)->origins();
    if (mine.empty()) continue;
    for_each_child(**node, [&](const Expr& child) {
      if (child->origins().empty() && child->kind() != ExprKind::kOp) of_.insert(child.get(), mine);
    });
  }
  // Nodes without a user that has origins: the result tuple and its lets.
  for (const ExprNode* node : order) {
    if (!node->origins().empty() || of_.contains(node)) continue;
    OriginSet below = OriginSet::none();
    for_each_child(*node, [&](const Expr& child) {
      const OriginSet* inherited = child->origins().empty() ? of_.find(child.get()) : &child->origins();
      if (below.empty() && inherited) below = *inherited;
    });
    if (!below.empty()) of_.insert(node, below);
  }
}

OriginSet GradientCauses::seed(const Expr& node) const {
  const OriginSet* found = node->origins().empty() ? of_.find(node.get()) : &node->origins();
  const OriginSet& causes = found ? *found : any_;
  return causes.empty() ? causes : OriginSet::made_for(causes, "its gradient needs it");
}

Pass gradient_pass(const PassArgs& args) {
  PassArgReader reader("Gradient", args);
  const GradientMode mode = gradient_mode(reader.text("mode", "higher_order"));
  reader.finish();
  return module_pass({0, "Gradient", {"InferType"}}, [mode](const IRModule& module, const PassContext&) {
    if (!module->find("main")) throw UsageError("Gradient needs a function @main");
    differentiate(module, "main", mode);
    return module;
  });
}

Pass first_order_gradient_pass() {
  return module_pass({0, "FirstOrderGradient", {}}, [](const IRModule& module, const PassContext&) {
    const auto functions = module->functions();
    for (const auto& [name, function] : functions) differentiate(module, name, GradientMode::kFirstOrder);
    return module;
  });
}

}  // namespace baton
