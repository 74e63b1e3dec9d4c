#include "baton/ir/visit.h"

#include "baton/support/pointer_index.h"

namespace baton {

void post_order(const Expr& root, const std::function<void(const Expr&)>& visit,
                const std::function<bool(const Expr&)>& enter) {
  if (!root) return;
  // A node is pushed once to be opened and once more to be visited; `seen` marks opened nodes.
  struct Step {
    const Expr* node;
    bool close;
  };
  PointerIndex seen;
  std::vector<Step> stack{{&root, false}};
  std::vector<const Expr*> children;
  while (!stack.empty()) {
    const Step step = stack.back();
    stack.pop_back();
    if (step.close) {
      visit(*step.node);
      continue;
    }
    if (!seen.add(step.node->get()).second) continue;
    stack.push_back({step.node, true});
    if (enter && !enter(*step.node)) continue;
    // for_each_child may hand out temporaries for Var handles, which have no children: visit those right here
    // would break the order, so they are kept alive by their parent and addressed through it.
    children.clear();
    const ExprNode& node = **step.node;
    switch (node.kind()) {
      case ExprKind::kFunction:
      case ExprKind::kLet: break;
      default: for_each_child(node, [&](const Expr& child) { children.push_back(&child); });
    }
    if (const auto* function = as<FunctionNode>(node.kind() == ExprKind::kFunction ? &node : nullptr)) {
      for (const Var& param : function->params())
        if (seen.add(param.get()).second) visit(Expr(param));
      children.push_back(&function->body());
    } else if (const auto* let = as<LetNode>(node.kind() == ExprKind::kLet ? &node : nullptr)) {
      if (seen.add(let->var().get()).second) visit(Expr(let->var()));
      children.push_back(&let->value());
      children.push_back(&let->body());
    }
    for (auto child = children.rbegin(); child != children.rend(); ++child) stack.push_back({*child, false});
  }
}

std::vector<Var> free_vars(const Expr& root) {
  PointerIndex bound, seen;
  std::vector<Var> used;
  std::vector<Expr> order;
  post_order(root, [&](const Expr& node) { order.push_back(node); });
  for (const Expr& node : order) {
    if (const auto* function = as<FunctionNode>(node))
      for (const Var& param : function->params()) bound.add(param.get());
    if (const auto* let = as<LetNode>(node)) bound.add(let->var().get());
  }
  for (const Expr& node : order)
    if (node->kind() == ExprKind::kVar && !bound.contains(node.get()) && seen.add(node.get()).second)
      used.push_back(as_ref<VarNode>(node));
  return used;
}

}  // namespace baton
