#include "baton/ir/all_vars.h"

#include <algorithm>

#include "baton/ir/visit.h"
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
  // A clause's variables come between the bodies of others: its pattern is a step of its own.
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
  const auto add_var = [&](const Var& var) { all.add_all(var->annotation()); };
  const auto enter = [&](const Expr& node) {
    if (const auto* var = as<VarNode>(node)) all.add_all(var->annotation());
    if (const auto* let = as<LetNode>(node)) add_var(let->var());
    if (const auto* function = as<FunctionNode>(node)) {
      for (const TypeVar& var : function->type_params()) all.add(var);
      for (const Var& param : function->params()) add_var(param);
      all.add_all(function->ret_type());
    }
    if (const auto* match = as<MatchNode>(node))
      for (const Clause& clause : match->clauses())
        for (const Var& var : pattern_vars(clause.pattern)) add_var(var);
    return true;
  };
  post_order(root, [](const Expr&) {}, enter);
  return std::move(all.vars);
}

}  // namespace baton
