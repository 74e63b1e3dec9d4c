#include "baton/ir/variables.h"

#include <algorithm>

#include "baton/ir/visit.h"
#include "baton/support/pointer_index.h"
#include "baton/support/pointer_map.h"

namespace baton {

namespace {

struct TypeVarSet {
  std::vector<TypeVar> vars;
  PointerSet seen;

  void add(const TypeVar& var) {
    if (seen.insert(var.get())) vars.push_back(var);
  }
  void add_all(const Type& type) {
    visit_types(type, [&](const Type& part) {
      if (const auto* func = as_type<FuncTypeNode>(part))
        for (const TypeVar& var : func->type_params()) add(var);
      if (const auto* var = as_type<TypeVarNode>(part)) add(TypeVar(var));
    });
  }
};

}  // namespace

std::vector<Var> all_vars(const Expr& root) {
  std::vector<Var> vars;
  PointerSet seen;
  const auto add = [&](const Var& var) {
    if (seen.insert(var.get())) vars.push_back(var);
  };
  // The pattern of a clause is a step of its own: its variables come between the clauses' bodies.
  struct Step {
    const ExprNode* node;
    const PatternNode* pattern;
  };
  std::vector<Step> steps{{root.get(), nullptr}};
  PointerSet opened;
  while (!steps.empty()) {
    const Step step = steps.back();
    steps.pop_back();
    if (step.pattern) {
      for (const Var& var : pattern_vars(Pattern(step.pattern))) add(var);
      continue;
    }
    const ExprNode& node = *step.node;
    if (node.kind() == ExprKind::kVar) {
      add(Var(static_cast<const VarNode*>(&node)));
      continue;
    }
    if (!opened.insert(&node)) continue;
    const size_t first = steps.size();
    if (const auto* match = as<MatchNode>(&node)) {
      steps.push_back({match->data().get(), nullptr});
      for (const Clause& clause : match->clauses()) {
        steps.push_back({nullptr, clause.pattern.get()});
        steps.push_back({clause.body.get(), nullptr});
      }
    } else {
      for_each_child(node, [&](const Expr& child) { steps.push_back({child.get(), nullptr}); });
    }
    std::reverse(steps.begin() + static_cast<std::ptrdiff_t>(first), steps.end());
  }
  return vars;
}

std::vector<TypeVar> all_type_vars(const Type& type) {
  TypeVarSet all;
  all.add_all(type);
  return std::move(all.vars);
}

std::vector<TypeVar> bound_type_vars(const Type& type) {
  TypeVarSet bound;
  visit_types(type, [&](const Type& part) {
    if (const auto* func = as_type<FuncTypeNode>(part))
      for (const TypeVar& var : func->type_params()) bound.add(var);
  });
  return std::move(bound.vars);
}

std::vector<TypeVar> free_type_vars(const Type& type) {
  PointerSet bound;
  for (const TypeVar& var : bound_type_vars(type)) bound.insert(var.get());
  std::vector<TypeVar> free;
  for (const TypeVar& var : all_type_vars(type))
    if (!bound.contains(var.get())) free.push_back(var);
  return free;
}

std::vector<TypeVar> all_type_vars(const Expr& root) {
  TypeVarSet all;
  const auto enter = [&](const Expr& node) {
    if (const auto* var = as<VarNode>(node)) all.add_all(var->annotation());
    const auto* function = as<FunctionNode>(node);
    if (function)
      for (const TypeVar& var : function->type_params()) all.add(var);
    for_each_bound_var(*node, [&](const Var& var) { all.add_all(var->annotation()); });
    if (function) all.add_all(function->ret_type());
    return true;
  };
  post_order(root, [](const Expr&) {}, enter);
  return std::move(all.vars);
}

namespace {

// Type variables declared by functions in `root` or by function types in its annotations.
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
  post_order(root, [&](const Expr& node) {
    for_each_bound_var(*node, [&](const Var& var) { bound.add(var.get()); });
  });
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
  for (const Expr& node : order) for_each_bound_var(*node, [&](const Var& var) { bound.add(var.get()); });
  for (const Expr& node : order)
    if (node->kind() == ExprKind::kVar && !bound.contains(node.get()) && seen.add(node.get()).second)
      used.push_back(as_ref<VarNode>(node));
  return used;
}

}  // namespace baton
