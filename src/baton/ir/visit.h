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
/// function's body; a let's value and body; the matched value, then the clauses' bodies. Refers to the node,
/// so no reference count changes. The kind is looked at once per node, not once per child: walks are hot.
class Children {
 public:
  explicit Children(const ExprNode& node) {
    switch (node.kind()) {
      case ExprKind::kCall: {
        const auto& call = static_cast<const CallNode&>(node);
        set(&call.callee());
        rest(call.args().begin(), call.args().size());
        break;
      }
      case ExprKind::kTuple: {
        const auto& fields = static_cast<const TupleNode&>(node).fields();
        rest(fields.begin(), fields.size());
        break;
      }
      case ExprKind::kTupleGetItem:
        set(&static_cast<const TupleGetItemNode&>(node).tuple());
        break;
      case ExprKind::kFunction:
        set(&static_cast<const FunctionNode&>(node).body());
        break;
      case ExprKind::kLet: {
        const auto& let = static_cast<const LetNode&>(node);
        set(&let.value(), &let.body());
        break;
      }
      case ExprKind::kIf: {
        const auto& branch = static_cast<const IfNode&>(node);
        set(&branch.condition(), &branch.then(), &branch.otherwise());
        break;
      }
      case ExprKind::kMatch: {
        const auto& match = static_cast<const MatchNode&>(node);
        set(&match.data());
        if (!match.clauses().empty())
          rest(&match.clauses().front().body, match.clauses().size(), sizeof(Clause));
        break;
      }
      case ExprKind::kRefCreate:
        set(&static_cast<const RefCreateNode&>(node).value());
        break;
      case ExprKind::kRefRead:
        set(&static_cast<const RefReadNode&>(node).ref());
        break;
      case ExprKind::kRefWrite: {
        const auto& write = static_cast<const RefWriteNode&>(node);
        set(&write.ref(), &write.value());
        break;
      }
      case ExprKind::kVar:
      case ExprKind::kGlobalVar:
      case ExprKind::kConstant:
      case ExprKind::kOp:
      case ExprKind::kConstructor:
        break;
    }
  }

  size_t size() const { return members_ + count_; }
  const Expr& operator[](size_t index) const {
    return index < members_ ? *member_[index]
                            : *reinterpret_cast<const Expr*>(list_ + (index - members_) * stride_);
  }

  class Iterator {
   public:
    Iterator(const Children& of, size_t at) : of_(&of), at_(at) {}
    const Expr& operator*() const { return (*of_)[at_]; }
    Iterator& operator++() { return ++at_, *this; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const Children* of_;
    size_t at_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  template <class... Members>
  void set(Members... members) {
    (void)((member_[members_++] = members), ...);
  }
  void rest(const Expr* first, size_t count, size_t stride = sizeof(Expr)) {
    list_ = reinterpret_cast<const char*>(first);
    count_ = count;
    stride_ = stride;
  }

  // Children that are members of the node, then those in its list, `stride_` bytes apart.
  const Expr* member_[3];
  size_t members_ = 0;
  const char* list_ = nullptr;
  size_t count_ = 0, stride_ = sizeof(Expr);
};

/// Child `index` of a node, in the order of Children; null past the last one. For walks that stop and resume.
inline const Expr* child(const ExprNode& node, size_t index) {
  // Most nodes with children are calls: for these no Children are filled in to look at one of them.
  if (node.kind() == ExprKind::kCall) {
    const auto& call = static_cast<const CallNode&>(node);
    if (index == 0) return &call.callee();
    return index <= call.args().size() ? &call.args()[index - 1] : nullptr;
  }
  const Children children(node);
  return index < children.size() ? &children[index] : nullptr;
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
  for (const Expr& each : Children(node)) visit(each);
}

/// Visits every node reachable from `root` once, in post-order. When `enter(node)` is false, the node is
/// visited but not its children (unless reached otherwise).
void post_order(const Expr& root, FunctionRef<void(const Expr&)> visit,
                FunctionRef<bool(const Expr&)> enter = {});

}  // namespace baton
