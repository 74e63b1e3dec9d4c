#pragma once
// Walks over expressions. All are iterative: user graphs may be a million calls deep.
#include <unordered_set>
#include <vector>

#include "baton/ir/adt.h"
#include "baton/ir/expr.h"
#include "baton/support/function_ref.h"

namespace baton {

/// Calls `visit(child)` for each direct child in evaluation order: callee before arguments, parameters before
/// the body, a let's variable, value, body, a clause's variables before its body.
template <class Visit>
void for_each_child(const ExprNode& node, Visit&& visit) {
  switch (node.kind()) {
    case ExprKind::kVar:
    case ExprKind::kGlobalVar:
    case ExprKind::kConstant:
    case ExprKind::kOp:
    case ExprKind::kConstructor:
      return;
    case ExprKind::kTuple:
      for (const Expr& field : static_cast<const TupleNode&>(node).fields()) visit(field);
      return;
    case ExprKind::kTupleGetItem:
      visit(static_cast<const TupleGetItemNode&>(node).tuple());
      return;
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
    case ExprKind::kMatch: {
      const auto& match = static_cast<const MatchNode&>(node);
      visit(match.data());
      for (const Clause& clause : match.clauses()) {
        for (const Var& var : pattern_vars(clause.pattern)) visit(Expr(var));
        visit(clause.body);
      }
      return;
    }
    case ExprKind::kRefCreate:
      visit(static_cast<const RefCreateNode&>(node).value());
      return;
    case ExprKind::kRefRead:
      visit(static_cast<const RefReadNode&>(node).ref());
      return;
    case ExprKind::kRefWrite: {
      const auto& write = static_cast<const RefWriteNode&>(node);
      visit(write.ref());
      visit(write.value());
      return;
    }
  }
}

/// Visits every node reachable from `root` once, children first. `enter(node)` false: the node is visited,
/// its children are not (unless reached otherwise).
void post_order(const Expr& root, FunctionRef<void(const Expr&)> visit,
                FunctionRef<bool(const Expr&)> enter = {});

/// Variables used but not bound inside, in the order of their first use.
std::vector<Var> free_vars(const Expr& root);
/// Variables bound inside, by functions, lets and patterns, in the order of the walk.
std::vector<Var> bound_vars(const Expr& root);
/// Type variables in annotations that no function inside declares, and those that one declares.
std::vector<TypeVar> free_type_vars(const Expr& root);
std::vector<TypeVar> bound_type_vars(const Expr& root);

}  // namespace baton
