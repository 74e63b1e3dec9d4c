#include "baton/ir/build.h"

#include <algorithm>

#include "baton/ir/origin_scope.h"
#include "baton/ir/visit.h"

namespace baton {

Call call_op(std::string_view op, std::vector<Expr> args, const NamedAttrs& attrs) {
  const OpDef* def = find_op(op);
  if (!def) throw NotSupported("operator " + std::string(op) + " is needed here but not provided yet");
  return call_expr(op_expr(*def), std::move(args), def->attrs ? make_attrs(*def->attrs, attrs) : Attrs());
}

Attrs with_fields(const Attrs& attrs, const NamedAttrs& values) {
  const Ref<AttrsNode> copy = attrs->copy();
  for (const auto& [name, value] : values) {
    const AttrField* field = copy->schema().find(name);
    BATON_CHECK(field && field->set(copy->data(), value), copy->schema().type_key + "." + name);
  }
  return copy;
}

Attrs carry_attrs(const OpDef& op, const CallNode& call, const NamedAttrs& values) {
  NamedAttrs all;
  for (const AttrField& field : op.attrs->fields)
    if (call.attrs()->schema().find(field.name)) all.emplace_back(field.name, call.attrs()->get(field.name));
  return with_fields(make_attrs(*op.attrs, all), values);
}

Call with_attrs(const CallNode& call, Attrs attrs) {
  return make_call(call.callee(), call.args(), std::move(attrs), call.info());
}

Function without_attrs(const Function& function, std::initializer_list<std::string_view> names) {
  FunctionAttrs attrs;
  for (const auto& [name, value] : function->attrs())
    if (std::find(names.begin(), names.end(), name) == names.end()) attrs.emplace_back(name, value);
  if (attrs.size() == function->attrs().size()) return function;
  return make_function(function->params(), function->body(), function->ret_type(), std::move(attrs),
                       NodeInfo(function->origins(), function->span(), function->checked_type()),
                       function->type_params());
}

namespace {

Expr with_info(const Expr& expr, const NodeInfo& info) {
  if (const auto* call = as<CallNode>(expr))
    return make_call(call->callee(), call->args(), call->attrs(), info);
  if (const auto* tuple = as<TupleNode>(expr)) return make_tuple(tuple->fields(), info);
  if (const auto* item = as<TupleGetItemNode>(expr))
    return make_tuple_get_item(item->tuple(), item->index(), info);
  if (const auto* constant = as<ConstantNode>(expr)) return make_constant(constant->value(), info);
  if (const auto* let = as<LetNode>(expr)) return make_let(let->var(), let->value(), let->body(), info);
  if (const auto* branch = as<IfNode>(expr))
    return make_if(branch->condition(), branch->then(), branch->otherwise(), info);
  if (const auto* match = as<MatchNode>(expr))
    return make_match(match->data(), match->clauses(), match->complete(), info);
  if (const auto* read = as<RefReadNode>(expr)) return make_ref_read(read->ref(), info);
  return expr;
}

}  // namespace

Expr with_type(const Expr& expr, const Type& type) {
  return expr->checked_type() || !type ? expr : with_info(expr, expr->with_type(type));
}

Expr with_origins(const Expr& expr, const OriginSet& origins) {
  return expr->origins() == origins ? expr
                                    : with_info(expr, NodeInfo(origins, expr->span(), expr->checked_type()));
}

std::string place_of(const CallNode& call) {
  for (const Origin* origin : call.origins().origins()) {
    const Span& span = origin->span();
    const std::string place =
        span ? (span.source ? span.source->name() + ":" : "line ") + std::to_string(span.line)
             : origin->source_name();
    if (!place.empty()) return origin->op() + " at " + place;
  }
  return call.op() ? call.op()->name : "a call";
}

Expr expand_to_axis(const Expr& vector, int rank, int axis) {
  const int behind = rank - 1 - axis;
  return behind == 0 ? vector : call_op("expand_dims", {vector}, {{"axis", 1}, {"num_newaxis", behind}});
}

void retire_all(const Expr& expr, std::string_view reason) {
  post_order(expr, [&](const Expr& node) { retire(node->origins(), reason); });
}

}  // namespace baton
