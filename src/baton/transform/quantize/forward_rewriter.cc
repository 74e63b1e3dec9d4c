#include "baton/transform/quantize/forward_rewriter.h"

#include "baton/ir/visit.h"

namespace baton {

bool ForwardRewriter::holds_staged(const Expr& expr) const {
  return is_staged(expr) || holding_.contains(expr.get());
}

Expr ForwardRewriter::finished(const Expr& expr) {
  if (!holds_staged(expr)) return expr;
  if (const Expr* done = finished_.find(expr.get())) return *done;
  Expr made;
  if (const auto* tuple = as<TupleNode>(expr)) {
    std::vector<Expr> fields;
    for (const Expr& field : tuple->fields()) fields.push_back(is_staged(field) ? finished(field) : field);
    made = make_tuple(std::move(fields), expr->with_type(type_of_rebuilt(*expr)));
  } else {
    made = finish(expr);
  }
  finished_.insert(expr.get(), made);
  kept_.push_back(expr);
  return made;
}

Expr ForwardRewriter::over_finished(const Expr& rebuilt) {
  bool any = false;
  for_each_child(*rebuilt, [&](const Expr& child) { any = any || holds_staged(child); });
  if (!any) return rebuilt;
  const NodeInfo info = rebuilt->with_type(type_of_rebuilt(*rebuilt));
  if (const auto* call = as<CallNode>(rebuilt)) {
    std::vector<Expr> args;
    for (const Expr& arg : call->args()) args.push_back(finished(arg));
    return make_call(finished(call->callee()), std::move(args), call->attrs(), info);
  }
  if (const auto* item = as<TupleGetItemNode>(rebuilt))
    return make_tuple_get_item(finished(item->tuple()), item->index(), info);
  if (const auto* let = as<LetNode>(rebuilt))
    return make_let(let->var(), finished(let->value()), finished(let->body()), info);
  if (const auto* branch = as<IfNode>(rebuilt))
    return make_if(finished(branch->condition()), finished(branch->then()), finished(branch->otherwise()),
                   info);
  if (const auto* function = as<FunctionNode>(rebuilt))
    return remake_function(*function, function->params(), finished(function->body()));
  if (const auto* match = as<MatchNode>(rebuilt)) {
    std::vector<Clause> clauses;
    for (const Clause& clause : match->clauses()) clauses.push_back({clause.pattern, finished(clause.body)});
    return make_match(finished(match->data()), std::move(clauses), match->complete(), info);
  }
  if (const auto* made = as<RefCreateNode>(rebuilt)) return make_ref_create(finished(made->value()), info);
  if (const auto* read = as<RefReadNode>(rebuilt)) return make_ref_read(finished(read->ref()), info);
  const auto* write = as<RefWriteNode>(rebuilt);
  BATON_CHECK(write, "a node with children that has another kind");
  return make_ref_write(finished(write->ref()), finished(write->value()), info);
}

// Who uses a tuple decides about its fields; tuples inside are nothing that a rule looks into.
Expr ForwardRewriter::over_tuples(const TupleNode& tuple, const Expr& rebuilt) {
  std::vector<Expr> fields;
  bool staged = false;
  for (const Expr& field : tuple.fields()) {
    fields.push_back(holding_.contains(field.get()) ? finished(field) : field);
    staged = staged || is_staged(field);
  }
  const Expr made = fields == tuple.fields()
                        ? rebuilt
                        : make_tuple(std::move(fields), rebuilt->with_type(type_of_rebuilt(*rebuilt)));
  if (staged && holding_.insert(made.get())) kept_.push_back(made);
  return made;
}

Expr ForwardRewriter::rewrite(const Expr& original, const Expr& rebuilt) {
  if (const auto* call = as<CallNode>(rebuilt); call && call->op())
    if (const Expr made = forward(*as<CallNode>(original), *call)) return result(original, made);
  if (const auto* tuple = as<TupleNode>(rebuilt)) return over_tuples(*tuple, rebuilt);
  return over_finished(rebuilt);
}

}  // namespace baton
