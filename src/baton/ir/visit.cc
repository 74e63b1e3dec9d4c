#include "baton/ir/visit.h"

#include "baton/ir/all_vars.h"
#include "baton/support/pointer_index.h"

namespace baton {

void post_order(const Expr& root, FunctionRef<void(const Expr&)> visit,
                FunctionRef<bool(const Expr&)> enter) {
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
    // A node that only its parent holds is met once.
    if ((*step.node)->use_count() > 1 && !seen.add(step.node->get()).second) continue;
    stack.push_back({step.node, true});
    if (enter && !enter(*step.node)) continue;
    // for_each_child may hand out temporaries for Var handles, which have no children: visit those right here
    // would break the order, so they are kept alive by their parent and addressed through it.
    children.clear();
    const ExprNode& node = **step.node;
    switch (node.kind()) {
      case ExprKind::kFunction:
      case ExprKind::kLet:
      case ExprKind::kMatch:
        break;
      default:
        for_each_child(node, [&](const Expr& child) { children.push_back(&child); });
    }
    if (const auto* function = as<FunctionNode>(node.kind() == ExprKind::kFunction ? &node : nullptr)) {
      for (const Var& param : function->params())
        if (seen.add(param.get()).second) visit(Expr(param));
      children.push_back(&function->body());
    } else if (const auto* let = as<LetNode>(node.kind() == ExprKind::kLet ? &node : nullptr)) {
      if (seen.add(let->var().get()).second) visit(Expr(let->var()));
      children.push_back(&let->value());
      children.push_back(&let->body());
    } else if (const auto* match = as<MatchNode>(node.kind() == ExprKind::kMatch ? &node : nullptr)) {
      children.push_back(&match->data());
      for (const Clause& clause : match->clauses()) {
        for (const Var& var : pattern_vars(clause.pattern))
          if (seen.add(var.get()).second) visit(Expr(var));
        children.push_back(&clause.body);
      }
    }
    for (auto child = children.rbegin(); child != children.rend(); ++child) stack.push_back({*child, false});
  }
}

namespace {

void for_each_bound(const Expr& node, FunctionRef<void(const Var&)> visit) {
  if (const auto* function = as<FunctionNode>(node))
    for (const Var& param : function->params()) visit(param);
  if (const auto* let = as<LetNode>(node)) visit(let->var());
  if (const auto* match = as<MatchNode>(node))
    for (const Clause& clause : match->clauses())
      for (const Var& var : pattern_vars(clause.pattern)) visit(var);
}

// Type variables that the functions of `root`, or function types in its annotations, declare.
PointerIndex declared_type_vars(const Expr& root) {
  PointerIndex declared;
  const auto look_at = [&](const Type& type) {
    visit_types(type, [&](const Type& part) {
      if (const auto* func = as_type<FuncTypeNode>(part))
        for (const TypeVar& var : func->type_params()) declared.add(var.get());
    });
  };
  post_order(root, [&](const Expr& node) {
    if (const auto* var = as<VarNode>(node)) look_at(var->annotation());
    if (const auto* function = as<FunctionNode>(node)) {
      for (const TypeVar& var : function->type_params()) declared.add(var.get());
      look_at(function->ret_type());
    }
  });
  return declared;
}

template <class T>
std::vector<T> those(std::vector<T> all, const PointerIndex& set, bool inside) {
  std::erase_if(all, [&](const T& each) { return set.contains(each.get()) != inside; });
  return all;
}

}  // namespace

std::vector<Var> bound_vars(const Expr& root) {
  PointerIndex bound;
  post_order(root,
             [&](const Expr& node) { for_each_bound(node, [&](const Var& var) { bound.add(var.get()); }); });
  return those(all_vars(root), bound, true);
}

std::vector<TypeVar> bound_type_vars(const Expr& root) {
  return those(all_type_vars(root), declared_type_vars(root), true);
}
std::vector<TypeVar> free_type_vars(const Expr& root) {
  return those(all_type_vars(root), declared_type_vars(root), false);
}

std::vector<Var> free_vars(const Expr& root) {
  PointerIndex bound, seen;
  std::vector<Var> used;
  std::vector<Expr> order;
  post_order(root, [&](const Expr& node) { order.push_back(node); });
  for (const Expr& node : order) for_each_bound(node, [&](const Var& var) { bound.add(var.get()); });
  for (const Expr& node : order)
    if (node->kind() == ExprKind::kVar && !bound.contains(node.get()) && seen.add(node.get()).second)
      used.push_back(as_ref<VarNode>(node));
  return used;
}

}  // namespace baton
