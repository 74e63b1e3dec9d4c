// Rebuilds a node with some fields replaced: `rebuild(node, part...)`, None keeps a field. The result keeps
// the node's origins and span and is untyped; it is the node itself when all fields are unchanged.
#include "baton/ir/adt.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"

#include "python/bind.h"
#include "python/cast_as.h"
#include "python/ir/visits.h"

namespace baton::python {

namespace {

using MaybeExpr = std::optional<Expr>;

template <class T>
Ref<const T> self(const T& node) {
  return Ref<const T>(&node);
}

NodeInfo info_of(const ExprNode& node, const MaybeSpan& span) {
  return NodeInfo(node.origins(), span.value_or(node.span()));
}

// A primitive function, and a call of it, get the origins of the operators in the new body.
OriginSet body_origins(const Expr& body) {
  std::vector<OriginSet> sets;
  post_order(body, [&](const Expr& node) {
    if (const auto* call = as<CallNode>(node); call && call->op()) sets.push_back(call->origins());
  });
  return OriginSet::merge_all(sets);
}

FunctionAttrs named(const nb::dict& attrs) { return attrs_from_python(attrs, "attrs"); }

Function rebuild_function(const FunctionNode& old, std::optional<std::vector<Var>> params,
                          const MaybeExpr& body, const std::optional<Type>& ret_type,
                          std::optional<std::vector<TypeVar>> type_params,
                          const std::optional<nb::dict>& attrs, const MaybeSpan& span) {
  const bool same = (!params || *params == old.params()) && (!body || *body == old.body()) && !ret_type &&
                    !type_params && !attrs;
  if (same && !span) return self(old);
  NodeInfo info = info_of(old, span);
  const Expr& new_body = body ? *body : old.body();
  if (old.is_primitive() && new_body != old.body() && !old.origins().empty())
    info.origins = body_origins(new_body);
  return make_function(params ? std::move(*params) : old.params(), new_body,
                       ret_type ? *ret_type : old.ret_type(), attrs ? named(*attrs) : old.attrs(),
                       std::move(info), type_params ? std::move(*type_params) : old.type_params());
}

// Always a new node: TVM's ExprMutator rebuilds calls too, and so drops their types.
Call rebuild_call(const CallNode& old, const MaybeExpr& op, std::optional<std::vector<Expr>> args,
                  const std::optional<Attrs>& attrs, const MaybeSpan& span) {
  const Expr& callee = op ? *op : old.callee();
  std::vector<Expr> values = args ? std::move(*args) : std::vector<Expr>(old.args());
  const Attrs& given = attrs ? *attrs : old.attrs();
  if (as<OpNode>(callee) && old.origins().empty())
    return call_expr(callee, std::move(values), given, span.value_or(old.span()));
  NodeInfo info = info_of(old, span);
  const auto* function = as<FunctionNode>(callee);
  if (function && function->is_primitive() && callee != old.callee()) info.origins = function->origins();
  return make_call(callee, std::move(values), given, std::move(info));
}

Expr rebuild_tuple(const TupleNode& old, std::optional<std::vector<Expr>> fields, const MaybeSpan& span) {
  return make_tuple(fields ? std::move(*fields) : std::vector<Expr>(old.fields()), info_of(old, span));
}

Expr rebuild_item(const TupleGetItemNode& old, const MaybeExpr& tuple, std::optional<int> index,
                  const MaybeSpan& span) {
  if ((!tuple || *tuple == old.tuple()) && (!index || *index == old.index()) && !span) return Expr(&old);
  return make_tuple_get_item(tuple ? *tuple : old.tuple(), index.value_or(old.index()), info_of(old, span));
}

Expr rebuild_let(const LetNode& old, const std::optional<Var>& var, const MaybeExpr& value,
                 const MaybeExpr& body, const MaybeSpan& span) {
  return make_let(var ? *var : old.var(), value ? *value : old.value(), body ? *body : old.body(),
                  info_of(old, span));
}

Expr rebuild_if(const IfNode& old, const MaybeExpr& condition, const MaybeExpr& then,
                const MaybeExpr& otherwise, const MaybeSpan& span) {
  return make_if(condition ? *condition : old.condition(), then ? *then : old.then(),
                 otherwise ? *otherwise : old.otherwise(), info_of(old, span));
}

Expr rebuild_match(const MatchNode& old, const MaybeExpr& data, std::optional<std::vector<Clause>> clauses,
                   std::optional<bool> complete, const MaybeSpan& span) {
  return make_match(data ? *data : old.data(), clauses ? std::move(*clauses) : old.clauses(),
                    complete.value_or(old.complete()), info_of(old, span));
}

Var rebuild_var(const VarNode& old, const std::optional<std::string>& name, const std::optional<Type>& type,
                const MaybeSpan& span) {
  if (!name && !type && !span) return self(old);
  return make_var(name.value_or(old.name()), type ? *type : old.annotation(), info_of(old, span));
}

Constant rebuild_constant(const ConstantNode& old, const std::optional<NDArray>& data,
                          const MaybeSpan& span) {
  if (!data && !span) return self(old);
  return make_constant(data ? *data : old.value(), info_of(old, span));
}

}  // namespace

void bind_rebuild(nb::module_& m) {
  const auto none = nb::none();
  m.def("rebuild", &rebuild_function, nb::arg("function"), nb::arg("params") = none, nb::arg("body") = none,
        nb::arg("ret_type") = none, nb::arg("type_params") = none, nb::arg("attrs") = none,
        nb::arg("span") = none);
  m.def("rebuild", &rebuild_call, nb::arg("call"), nb::arg("op") = none, nb::arg("args") = none,
        nb::arg("attrs") = none, nb::arg("span") = none);
  m.def("rebuild", &rebuild_tuple, nb::arg("tup"), nb::arg("fields") = none, nb::arg("span") = none);
  m.def("rebuild", &rebuild_item, nb::arg("op"), nb::arg("tuple_value") = none, nb::arg("index") = none,
        nb::arg("span") = none);
  m.def("rebuild", &rebuild_let, nb::arg("let"), nb::arg("var") = none, nb::arg("value") = none,
        nb::arg("body") = none, nb::arg("span") = none);
  m.def("rebuild", &rebuild_if, nb::arg("if_expr"), nb::arg("cond") = none, nb::arg("true_branch") = none,
        nb::arg("false_branch") = none, nb::arg("span") = none);
  m.def("rebuild", &rebuild_match, nb::arg("match"), nb::arg("data") = none, nb::arg("clauses") = none,
        nb::arg("complete") = none, nb::arg("span") = none);
  m.def("rebuild", &rebuild_var, nb::arg("var"), nb::arg("name_hint") = none,
        nb::arg("type_annotation") = none, nb::arg("span") = none);
  m.def("rebuild", &rebuild_constant, nb::arg("constant"), nb::arg("data") = none, nb::arg("span") = none);
  m.def(
      "rebuild",
      [](const RefCreateNode& old, const MaybeExpr& value, const MaybeSpan& span) {
        return make_ref_create(value ? *value : old.value(), info_of(old, span));
      },
      nb::arg("ref_create"), nb::arg("value") = none, nb::arg("span") = none);
  m.def(
      "rebuild",
      [](const RefReadNode& old, const MaybeExpr& ref, const MaybeSpan& span) {
        return make_ref_read(ref ? *ref : old.ref(), info_of(old, span));
      },
      nb::arg("ref_read"), nb::arg("ref") = none, nb::arg("span") = none);
  m.def(
      "rebuild",
      [](const RefWriteNode& old, const MaybeExpr& ref, const MaybeExpr& value, const MaybeSpan& span) {
        return make_ref_write(ref ? *ref : old.ref(), value ? *value : old.value(), info_of(old, span));
      },
      nb::arg("ref_write"), nb::arg("ref") = none, nb::arg("value") = none, nb::arg("span") = none);
}

}  // namespace baton::python
