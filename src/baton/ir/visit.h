#pragma once
// Walks over expressions. All are iterative: user graphs may be a million calls deep.
#include <functional>
#include <unordered_set>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// Calls `visit(child)` for each direct child in evaluation order: callee before arguments, parameters before the
/// body, a let's variable, value, body.
template <class Visit>
void for_each_child(const ExprNode& node, Visit&& visit) {
  switch (node.kind()) {
    case ExprKind::kVar:
    case ExprKind::kGlobalVar:
    case ExprKind::kConstant:
    case ExprKind::kOp: return;
    case ExprKind::kTuple:
      for (const Expr& field : static_cast<const TupleNode&>(node).fields()) visit(field);
      return;
    case ExprKind::kTupleGetItem: visit(static_cast<const TupleGetItemNode&>(node).tuple()); return;
    case ExprKind::kCall: {
      const auto& call = static_cast<const CallNode&>(node);
      visit(call.callee());
      for (const Expr& arg : call.args()) visit(arg);
      return;
    }
    case ExprKind::kFunction: {
      const auto& function = static_cast<const FunctionNode&>(node);
      for (const Var& param : function.params()) visit(Expr(param));
      visit(function.body());
      return;
    }
    case ExprKind::kLet: {
      const auto& let = static_cast<const LetNode&>(node);
      visit(Expr(let.var()));
      visit(let.value());
      visit(let.body());
      return;
    }
    case ExprKind::kIf: {
      const auto& branch = static_cast<const IfNode&>(node);
      visit(branch.condition());
      visit(branch.then());
      visit(branch.otherwise());
      return;
    }
  }
}

/// Visits every node reachable from `root` once, children first. `enter(node)` false: the node is visited, its
/// children are not (unless reached otherwise).
void post_order(const Expr& root, const std::function<void(const Expr&)>& visit,
                const std::function<bool(const Expr&)>& enter = {});

/// Variables used but not bound inside, in the order of their first use.
std::vector<Var> free_vars(const Expr& root);

}  // namespace baton
