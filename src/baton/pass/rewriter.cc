#include "baton/pass/rewriter.h"

#include <algorithm>

#include "baton/ir/functions.h"
#include "baton/ir/origin_scope.h"
#include "baton/ir/visit.h"

namespace baton {

namespace {

// The next step for a node: expand it, continue a let after its value, or rebuild it over its rewritten
// children.
enum class Step : uint8_t { kOpen, kLetBody, kClose };
struct Todo {
  const Expr* node;
  Step step;
};

}  // namespace

bool Rewriter::enter(const Expr& node) {
  const auto* function = as<FunctionNode>(node);
  return !function || !is_closed(*function);
}

Expr Rewriter::mapped(const Expr& original) const {
  const Expr* result = memo_.find(original.get());
  BATON_CHECK(result, "mapped() of an expression that was not visited");
  return *result;
}

void Rewriter::map(const Expr& original, Expr result) {
  const auto [at, fresh] = memo_.insert(original.get(), result);
  if (fresh)
    kept_.push_back(original);
  else
    *at = std::move(result);
}

// The rewritten binding occurrence of a variable, when its replacement is a variable.
Var Rewriter::binder(const Var& var) const {
  const Expr* result = memo_.find(var.get());
  const Var renamed = result ? as_ref<VarNode>(*result) : Var();
  return renamed ? renamed : var;
}

Expr Rewriter::run(const Expr& root) {
  if (!root) return root;
  if (const Expr* done = memo_.find(root.get())) return *done;
  kept_.push_back(root);
  const Expr& start = root;
  std::vector<Todo> stack{{&start, Step::kOpen}};
  const auto visit_var = [&](const Var& var) {
    if (!memo_.contains(var.get())) {
      Var result = rewrite_var(var);
      memo_.insert(var.get(), Expr(std::move(result)));
    }
  };
  while (!stack.empty()) {
    const Todo todo = stack.back();
    stack.pop_back();
    const Expr& node = *todo.node;
    if (todo.step == Step::kOpen) {
      if (memo_.contains(node.get())) continue;
      if (node->kind() == ExprKind::kVar) {
        visit_var(as_ref<VarNode>(node));
        continue;
      }
      if (node->kind() == ExprKind::kOp || node->kind() == ExprKind::kConstructor) {
        memo_.insert(node.get(), node);
        continue;
      }
      stack.push_back({todo.node, Step::kClose});
      if (!enter(node)) continue;
      if (const auto* let = as<LetNode>(node)) {
        visit_var(let->var());
        stack.push_back({todo.node, Step::kLetBody});
        stack.push_back({&let->value(), Step::kOpen});
      } else {
        for_each_bound_var(*node, visit_var);
        const Children children(*node);
        for (size_t i = children.size(); i-- > 0;)
          if (!memo_.contains(children[i].get())) stack.push_back({&children[i], Step::kOpen});
      }
    } else if (todo.step == Step::kLetBody) {
      const auto& let = static_cast<const LetNode&>(*node);
      let_value(let, mapped(let.value()));
      stack.push_back({&let.body(), Step::kOpen});
    } else {
      if (memo_.contains(node.get()))
        continue;  // reached twice before it was done, and meanwhile mapped by map()
      const OriginScope scope(node->origins());
      Expr result = rewrite(node, rebuild(*node));
      BATON_CHECK(result, "a rewriter returned nothing");
      memo_.insert(node.get(), std::move(result));
    }
  }
  return mapped(root);
}

// Collects the rewritten children in `became_`; false when all are unchanged. Children that were not entered
// are kept.
bool Rewriter::children_changed(const ExprNode& node) const {
  bool changed = false;
  became_.clear();
  for_each_child(node, [&](const Expr& child) {
    const Expr* result = memo_.find(child.get());
    became_.push_back(result ? result : &child);
    changed |= *became_.back() != child;
  });
  return changed;
}

Expr Rewriter::rebuild(const ExprNode& node) const {
  const Expr same(&node);
  const auto info = [&] { return node.with_type(type_of_rebuilt(node)); };
  if (const auto* function = as<FunctionNode>(&node)) {
    const Expr* body = memo_.find(function->body().get());
    if (!body) return same;  // not entered
    bool changed = *body != function->body();
    std::vector<Var> params;
    for (const Var& param : function->params()) {
      params.push_back(binder(param));
      changed |= params.back() != param;
    }
    if (!changed) return same;
    return make_function(std::move(params), *body, function->ret_type(), function->attrs(), info(),
                         function->type_params());
  }
  if (const auto* let = as<LetNode>(&node)) {
    const Var var = binder(let->var());
    const Expr value = mapped(let->value()), body = mapped(let->body());
    if (var == let->var() && value == let->value() && body == let->body()) return same;
    return make_let(var, value, body, info());
  }
  if (const auto* match = as<MatchNode>(&node)) {
    const Expr data = mapped(match->data());
    bool changed = data != match->data();
    std::vector<Clause> clauses;
    for (const Clause& clause : match->clauses()) {
      clauses.push_back({rewrite_pattern(clause.pattern, [&](const Var& var) { return binder(var); }),
                         mapped(clause.body)});
      changed |= clauses.back().pattern != clause.pattern || clauses.back().body != clause.body;
    }
    return changed ? make_match(data, std::move(clauses), match->complete(), info()) : same;
  }
  if (!children_changed(node)) return same;
  const auto became = [&](size_t child) { return *became_[child]; };
  const auto all_from = [&](size_t first) {
    std::vector<Expr> list;
    list.reserve(became_.size() - first);
    for (size_t child = first; child < became_.size(); ++child) list.push_back(*became_[child]);
    return list;
  };
  switch (node.kind()) {
    case ExprKind::kTuple:
      return make_tuple(all_from(0), info());
    case ExprKind::kTupleGetItem:
      return make_tuple_get_item(became(0), static_cast<const TupleGetItemNode&>(node).index(), info());
    case ExprKind::kCall:
      return make_call(became(0), all_from(1), static_cast<const CallNode&>(node).attrs(), info());
    case ExprKind::kIf:
      return make_if(became(0), became(1), became(2), info());
    case ExprKind::kRefCreate:
      return make_ref_create(became(0), info());
    case ExprKind::kRefRead:
      return make_ref_read(became(0), info());
    case ExprKind::kRefWrite:
      return make_ref_write(became(0), became(1), info());
    case ExprKind::kVar:
    case ExprKind::kGlobalVar:
    case ExprKind::kConstant:
    case ExprKind::kOp:
    case ExprKind::kConstructor:
    case ExprKind::kFunction:
    case ExprKind::kMatch:
    case ExprKind::kLet:
      break;
  }
  return same;
}

namespace {

class Substitution final : public Rewriter {
 public:
  explicit Substitution(const std::unordered_map<const ExprNode*, Expr>& values) {
    for (const auto& [var, value] : values) map(Expr(var), value);
  }

 private:
  bool enter(const Expr&) override { return true; }
};

}  // namespace

Expr substitute(const Expr& expr, const std::unordered_map<const ExprNode*, Expr>& values) {
  return Substitution(values).run(expr);
}

}  // namespace baton
