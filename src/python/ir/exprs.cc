#include "baton/ir/expr.h"
#include "baton/ir/op.h"
#include "baton/ir/origin_scope.h"
#include "baton/text/printer.h"
#include "baton/types/match_types.h"

#include "python/bind.h"
#include "python/cast_as.h"
#include "python/ir/caller_place.h"

namespace baton::python {

namespace {

using MaybeType = std::optional<Type>;

Type type_or_null(const MaybeType& type) { return type.value_or(Type()); }
const Type& checked_type(const ExprNode& expr) {
  if (!expr.checked_type())
    throw nb::value_error("this expression has no type yet: run InferType on its module");
  return expr.checked_type();
}

std::string text_of(const ExprNode& expr, bool show_meta_data, std::optional<nb::callable> annotate) {
  const Expr self(&expr);
  if (!annotate) return astext(self, show_meta_data);
  PrintOptions options;
  options.metadata = show_meta_data ? PrintOptions::Metadata::kFull : PrintOptions::Metadata::kComment;
  options.annotate = [&](const Expr& each) {
    return cast_as<std::string>((*annotate)(each), "what annotate() returns", "a str");
  };
  return print(self, options);
}

FunctionAttrs function_attrs(const std::optional<nb::dict>& attrs) {
  return attrs ? attrs_from_python(*attrs, "attrs") : FunctionAttrs();
}

Function make(std::vector<Var> params, const Expr& body, const MaybeType& ret_type,
              std::optional<std::vector<TypeVar>> type_params, const std::optional<nb::dict>& attrs,
              const MaybeSpan& span) {
  return function(std::move(params), body, type_or_null(ret_type), function_attrs(attrs), span_or_none(span),
                  std::move(type_params).value_or(std::vector<TypeVar>()));
}

/// call_expr(). The new operator's origin has its place in the Python program; the call has a span only when
/// one is given, as in TVM.
Call call_here(const Expr& callee, std::vector<Expr> args, Attrs attrs, Span span) {
  const auto* op = as<OpNode>(callee);
  if (!op || span || OriginScope::current())
    return call_expr(callee, std::move(args), std::move(attrs), std::move(span));
  if (!attrs && op->def().attrs) attrs = op->def().attrs->make();
  CallerPlace place = caller_place();
  const OriginSet origins = OriginSet::of(
      Origin::create(op->name(), attrs, std::move(place.span), std::move(place.callers), current_module()));
  return make_call(callee, std::move(args), std::move(attrs), NodeInfo(origins));
}

nb::dict attrs_of(const FunctionNode& function) {
  nb::dict attrs;
  for (const auto& [name, value] : function.attrs()) attrs[name.c_str()] = attr_to_python(value);
  return attrs;
}

}  // namespace

void bind_exprs(nb::module_& m) {
  m.def("enter_module", &enter_module, nb::arg("name"),
        "Operators that this thread makes now belong to the module `name` of the current one, whose path is "
        "returned, for leave_module.");
  m.def("leave_module", &leave_module, nb::arg("outer"), "Back to the module of that path; \"\": none.");
  const char* const text_doc = "Relay text; `annotate(expr)` replaces the comments behind each expression.";
  nb::class_<ExprNode>(m, "RelayExpr", nb::dynamic_attr(),
                       "A node of a program. Immutable; == means the same node.")
      .def_prop_ro("checked_type", &checked_type, "the inferred type; ValueError before InferType")
      .def_prop_ro(
          "_checked_type_", [](const ExprNode& e) { return e.checked_type(); }, "the inferred type, or None")
      .def_prop_ro(
          "span", [](const ExprNode& e) { return e.span() ? MaybeSpan(e.span()) : std::nullopt; },
          "where it was read, or None")
      .def(
          "same_as", [](nb::handle a, nb::handle b) { return a.is(b); }, nb::arg("other").none(), "Identity.")
      .def("__str__", [](const ExprNode& e) { return str(Expr(&e)); })
      .def("astext", &text_of, nb::arg("show_meta_data") = true, nb::arg("annotate").none() = nb::none(),
           text_doc);

  nb::class_<VarNode, ExprNode>(m, "Var", "A local variable: a name for printing, and a type if it is known.")
      .def(nb::new_([](const std::string& name, const MaybeType& type, const MaybeSpan& span) {
             return var(name, type_or_null(type), span_or_none(span));
           }),
           nb::arg("name_hint"), nb::arg("type_annotation") = nb::none(), nb::arg("span") = nb::none())
      .def_prop_ro("name_hint", &VarNode::name)
      .def_prop_ro("type_annotation", &VarNode::annotation, "a Type, or None");

  nb::class_<GlobalVarNode, ExprNode>(m, "GlobalVar", "The name of a function of a module.")
      .def(nb::new_([](const std::string& name, const MaybeType&) { return make_global_var(name); }),
           nb::arg("name_hint"), nb::arg("type_annot") = nb::none())
      .def_prop_ro("name_hint", &GlobalVarNode::name);

  nb::class_<ConstantNode, ExprNode>(m, "Constant", "A tensor in the program.")
      .def(nb::new_(
               [](const NDArray& data, const MaybeSpan& span) { return constant(data, span_or_none(span)); }),
           nb::arg("data"), nb::arg("span") = nb::none())
      .def_prop_ro("data", &ConstantNode::value, nb::rv_policy::copy, "an NDArray");

  nb::class_<OpNode, ExprNode>(m, "Op", "An operator; one object each.")
      .def_prop_ro("name", &OpNode::name)
      .def_prop_ro("description", [](const OpNode& o) { return o.def().doc; })
      .def_prop_ro(
          "num_inputs", [](const OpNode& o) { return o.def().num_inputs; }, "-1 for any number")
      .def_prop_ro(
          "arguments",
          [](const OpNode& o) {
            std::vector<std::string> names;
            for (const OpInput& input : o.def().inputs) names.emplace_back(input.name);
            return names;
          },
          "The names of its inputs.")
      .def_prop_ro(
          "attrs_type_key",
          [](const OpNode& o) { return o.def().attrs ? o.def().attrs->type_key : std::string(); },
          "Such as relay.attrs.Conv2DAttrs; empty when it has no attributes.")
      .def_prop_ro(
          "declares_attrs", [](const OpNode& o) { return o.def().declares_attrs; },
          "False: Relay registers it without its attributes' type.")
      .def_prop_ro(
          "can_run", [](const OpNode& o) { return static_cast<bool>(o.def().compute); },
          "False: it is typed and printed only.")
      .def_prop_ro(
          "pattern", [](const OpNode& o) { return static_cast<int>(o.def().fuse); },
          "How it may be fused, as TVM's TOpPattern.");

  nb::class_<TupleNode, ExprNode>(m, "Tuple", "Several values as one.")
      .def(nb::new_([](std::vector<Expr> fields, const MaybeSpan& span) {
             return as_ref<TupleNode>(tuple(std::move(fields), span_or_none(span)));
           }),
           nb::arg("fields"), nb::arg("span") = nb::none())
      .def_prop_ro("fields", [](const TupleNode& tuple) { return std::vector<Expr>(tuple.fields()); })
      .def("__len__", [](const TupleNode& t) { return t.fields().size(); })
      .def("__getitem__", [](const TupleNode& t, Py_ssize_t index) {
        const auto size = static_cast<Py_ssize_t>(t.fields().size());
        if (index < -size || index >= size) throw nb::index_error("tuple index out of range");
        return t.fields()[static_cast<size_t>(index < 0 ? index + size : index)];
      });

  nb::class_<TupleGetItemNode, ExprNode>(m, "TupleGetItem", "One value of a tuple.")
      .def(nb::new_([](const Expr& tuple, int index, const MaybeSpan& span) {
             return as_ref<TupleGetItemNode>(get_item(tuple, index, span_or_none(span)));
           }),
           nb::arg("tuple_value"), nb::arg("index"), nb::arg("span") = nb::none())
      .def_prop_ro("tuple_value", &TupleGetItemNode::tuple)
      .def_prop_ro("index", &TupleGetItemNode::index);

  nb::class_<CallNode, ExprNode>(m, "Call", "A call of an operator or a function.")
      .def(nb::new_([](const Expr& op, std::vector<Expr> args, const std::optional<Attrs>& attrs,
                       const std::optional<std::vector<Type>>&, const MaybeSpan& span) {
             return call_here(op, std::move(args), attrs.value_or(Attrs()), span_or_none(span));
           }),
           nb::arg("op"), nb::arg("args"), nb::arg("attrs") = nb::none(),
           nb::arg("type_args").none() = nb::none(), nb::arg("span") = nb::none(),
           "type_args: Types, for a polymorphic function. Not kept: inference finds them.")
      .def_prop_ro("op", &CallNode::callee)
      .def_prop_ro("args", [](const CallNode& call) { return std::vector<Expr>(call.args()); })
      .def_prop_ro("type_args", &type_arguments,
                   "of a typed call: what the type parameters of its callee are; of an operator the types of "
                   "its arguments, then of its result")
      .def_prop_ro("attrs", &CallNode::attrs, "an Attrs, or None");

  nb::class_<FunctionNode, ExprNode>(m, "Function", "A function of variables; attributes by name.")
      .def(nb::new_(&make), nb::arg("params"), nb::arg("body"), nb::arg("ret_type") = nb::none(),
           nb::arg("type_params") = nb::none(), nb::arg("attrs") = nb::none(), nb::arg("span") = nb::none())
      .def_prop_ro("params", &FunctionNode::params)
      .def_prop_ro("body", &FunctionNode::body)
      .def_prop_ro("ret_type", &FunctionNode::ret_type, "a Type, or None")
      .def_prop_ro("type_params", &FunctionNode::type_params, "TypeVars, of a polymorphic function")
      .def_prop_ro("_attrs", &attrs_of)
      .def("_with_attr", [](const FunctionNode& f, const std::string& name, const AttrValue& value) {
        return with_attr(Function(&f), name, value);
      });

  nb::class_<LetNode, ExprNode>(m, "Let", "A name for a value inside a body.")
      .def(nb::new_([](const Var& variable, const Expr& value, const Expr& body, const MaybeSpan& span) {
             return as_ref<LetNode>(let(variable, value, body, span_or_none(span)));
           }),
           nb::arg("variable"), nb::arg("value"), nb::arg("body"), nb::arg("span") = nb::none())
      .def_prop_ro("var", &LetNode::var)
      .def_prop_ro("value", &LetNode::value)
      .def_prop_ro("body", &LetNode::body);

  nb::class_<IfNode, ExprNode>(m, "If", "One of two values, by a condition.")
      .def(
          nb::new_([](const Expr& condition, const Expr& then, const Expr& otherwise, const MaybeSpan& span) {
            return as_ref<IfNode>(if_else(condition, then, otherwise, span_or_none(span)));
          }),
          nb::arg("cond"), nb::arg("true_branch"), nb::arg("false_branch"), nb::arg("span") = nb::none())
      .def_prop_ro("cond", &IfNode::condition)
      .def_prop_ro("true_branch", &IfNode::then)
      .def_prop_ro("false_branch", &IfNode::otherwise);
}

}  // namespace baton::python
