#pragma once
// Expression walks. All are iterative: user graphs may be a million calls deep.
#include "baton/ir/adt.h"
#include "baton/ir/expr.h"
#include "baton/support/function_ref.h"

namespace baton {

/// Kinds that never have children: variables, names, constants, operators.
constexpr bool is_leaf(ExprKind kind) {
  return kind == ExprKind::kVar || kind == ExprKind::kGlobalVar || kind == ExprKind::kConstant ||
         kind == ExprKind::kOp || kind == ExprKind::kConstructor;
}

/// The child expressions of a node in evaluation order, without bound variables: callee and arguments; a
/// function's body; a let's value and body; the matched value, then the clauses' bodies. Null past the last
/// one. Returns an address, so that no reference count changes.
inline const Expr* child(const ExprNode& node, size_t index) {
  switch (node.kind()) {
    case ExprKind::kCall: {
      const auto& call = static_cast<const CallNode&>(node);
      if (index == 0) return &call.callee();
      return index <= call.args().size() ? &call.args()[index - 1] : nullptr;
    }
    case ExprKind::kTuple: {
      const auto& fields = static_cast<const TupleNode&>(node).fields();
      return index < fields.size() ? &fields[index] : nullptr;
    }
    case ExprKind::kTupleGetItem:
      return index == 0 ? &static_cast<const TupleGetItemNode&>(node).tuple() : nullptr;
    case ExprKind::kFunction:
      return index == 0 ? &static_cast<const FunctionNode&>(node).body() : nullptr;
    case ExprKind::kLet: {
      const auto& let = static_cast<const LetNode&>(node);
      return index == 0 ? &let.value() : index == 1 ? &let.body() : nullptr;
    }
    case ExprKind::kIf: {
      const auto& branch = static_cast<const IfNode&>(node);
      if (index == 0) return &branch.condition();
      return index == 1 ? &branch.then() : index == 2 ? &branch.otherwise() : nullptr;
    }
    case ExprKind::kMatch: {
      const auto& match = static_cast<const MatchNode&>(node);
      if (index == 0) return &match.data();
      return index <= match.clauses().size() ? &match.clauses()[index - 1].body : nullptr;
    }
    case ExprKind::kRefCreate:
      return index == 0 ? &static_cast<const RefCreateNode&>(node).value() : nullptr;
    case ExprKind::kRefRead:
      return index == 0 ? &static_cast<const RefReadNode&>(node).ref() : nullptr;
    case ExprKind::kRefWrite: {
      const auto& write = static_cast<const RefWriteNode&>(node);
      return index == 0 ? &write.ref() : index == 1 ? &write.value() : nullptr;
    }
    case ExprKind::kVar:
    case ExprKind::kGlobalVar:
    case ExprKind::kConstant:
    case ExprKind::kOp:
    case ExprKind::kConstructor:
      break;
  }
  return nullptr;
}

/// Calls `visit(var)` for each variable bound by the node itself: parameters, a let's variable, pattern
/// variables.
template <class Visit>
void for_each_bound_var(const ExprNode& node, Visit&& visit) {
  if (const auto* function = as<FunctionNode>(&node)) {
    for (const Var& param : function->params()) visit(param);
  } else if (const auto* let = as<LetNode>(&node)) {
    visit(let->var());
  } else if (const auto* match = as<MatchNode>(&node)) {
    for (const Clause& clause : match->clauses())
      for (const Var& var : pattern_vars(clause.pattern)) visit(var);
  }
}

/// Calls `visit(child)` for each child, bound variables included, in evaluation order: a variable comes
/// before its scope; a let's variable also before its value.
template <class Visit>
void for_each_child(const ExprNode& node, Visit&& visit) {
  if (const auto* match = as<MatchNode>(&node)) {
    visit(match->data());
    for (const Clause& clause : match->clauses()) {
      for (const Var& var : pattern_vars(clause.pattern)) visit(Expr(var));
      visit(clause.body);
    }
    return;
  }
  for_each_bound_var(node, [&](const Var& var) { visit(Expr(var)); });
  for (size_t i = 0; const Expr* each = child(node, i); ++i) visit(*each);
}

/// Visits every node reachable from `root` once, in post-order. When `enter(node)` is false, the node is
/// visited but not its children (unless reached otherwise).
void post_order(const Expr& root, FunctionRef<void(const Expr&)> visit,
                FunctionRef<bool(const Expr&)> enter = {});

}  // namespace baton
