// Per-operator hooks in Python, and operators defined in Python.
#include "python/ir/op_hooks.h"

#include <set>

#include "baton/ir/op.h"
#include "baton/support/error.h"
#include "baton/target/processor.h"
#include "baton/transform/layout/layout_hooks.h"
#include "baton/transform/op_hooks.h"

#include "python/held.h"

namespace baton::python {

namespace {

Expr expr_of(const nb::object& answer) {
  if (answer.is_none()) return {};
  Expr expr;
  if (!nb::try_cast(answer, expr, false))
    throw nb::type_error("a rule of an operator returns an expression or None");
  return expr;
}

nb::list to_list(const std::vector<Type>& types) {
  nb::list list;
  for (const Type& type : types) list.append(type);
  return list;
}

// f(attrs, inputs, types) of Legalize, f(attrs, inputs, tinfos, out_type) of AlterOpLayout and
// f(attrs, inputs, tinfos, desired_layouts) of ConvertLayout.
OpHook hook_of(OpQuestion question, nb::object function) {
  if (function.is_none()) return {};
  return [question, held = hold(std::move(function))](const OpQuery& query) -> Expr {
    const nb::gil_scoped_acquire gil;
    std::vector<Type> types;
    for (const Expr& arg : query.call.args()) types.push_back(arg->checked_type());
    const nb::object attrs = query.call.attrs() ? nb::cast(query.call.attrs()) : nb::none();
    const nb::object inputs = nb::cast(query.args);
    const nb::handle call(held.get());
    switch (question) {
      case OpQuestion::kAlterOpLayout:
        return expr_of(call(attrs, inputs, to_list(types), query.call.checked_type()));
      case OpQuestion::kConvertOpLayout:
        return expr_of(call(attrs, inputs, to_list(types), nb::cast(query.desired)));
      case OpQuestion::kLegalize:
      case OpQuestion::kQnnLegalize:
      case OpQuestion::kQnnCanonicalize:
        break;
    }
    types.push_back(query.call.checked_type());
    return expr_of(call(attrs, inputs, to_list(types)));
  };
}

// Layouts as text; "__undef__", as TVM names it, for an unknown one.
nb::list layout_texts(const Layouts& layouts) {
  nb::list list;
  for (const KnownLayout layout : layouts) list.append(layout ? layout->str() : std::string("__undef__"));
  return list;
}

Layouts layouts_of(nb::handle answer, const char* which, const std::string& op) {
  Layouts layouts;
  for (const nb::handle each : answer) {
    const std::string text = nb::cast<std::string>(nb::str(each));
    layouts.push_back(text == "__undef__" ? nullptr : known_layout(text));
    if (!layouts.back() && text != "__undef__")
      throw UsageError(op + ": its layout rule gave \"" + text + "\" in " + which + ", which is no layout");
  }
  return layouts;
}

// f(attrs, new_in_layouts, old_in_layouts, old_in_types) of FInferCorrectLayout, new_in_layouts None while
// only the original program is analysed; returns (input_layouts, output_layouts, new_attrs).
LayoutFlowRule layout_rule_of(nb::object function) {
  return {[held = hold(std::move(function))](const LayoutQuery& query) -> std::optional<LayoutFlow> {
    const nb::gil_scoped_acquire gil;
    nb::list types;
    for (const TensorTypeNode* type : query.types) types.append(Type(type));
    const nb::object answer = nb::handle(held.get())(
        query.attrs ? nb::cast(query.attrs) : nb::none(),
        query.now.empty() ? nb::none() : nb::object(layout_texts(query.now)), layout_texts(query.was), types);
    LayoutFlow flow{layouts_of(nb::object(answer[0]), "input_layouts", query.op.name),
                    layouts_of(nb::object(answer[1]), "output_layouts", query.op.name)};
    if (flow.inputs.size() != query.types.size() || flow.outputs.size() != query.results.size())
      throw UsageError(query.op.name + ": its layout rule gave layouts of " +
                       std::to_string(flow.inputs.size()) + " inputs and " +
                       std::to_string(flow.outputs.size()) + " outputs, the call has " +
                       std::to_string(query.types.size()) + " and " + std::to_string(query.results.size()));
    const nb::object attrs = answer[2];
    if (!attrs.is_none()) flow.attrs = nb::cast<Attrs>(attrs);
    return flow;
  }};
}

// The operators defined in Python. Never destroyed: expressions point to them.
OpDef& own_op(const std::string& name) {
  const OpDef* op = find_op(name);
  if (!op) throw nb::attribute_error(("there is no operator \"" + name + "\"").c_str());
  if (!is_made_in_python(*op))
    throw NotSupported("operator " + name +
                       " is Baton's own: only those that relay.op.op.register has made can be changed");
  return const_cast<OpDef&>(*op);
}

RelationContext::Status python_relation(RelationContext& context, const Attrs& attrs, nb::handle relation) {
  const nb::gil_scoped_acquire gil;
  nb::list types;
  for (size_t i = 0; i < context.num_inputs(); ++i) types.append(context.input(i));
  const nb::object result = relation(types, attrs ? nb::cast(attrs) : nb::none());
  Type type;
  if (result.is_none()) return kDefer;
  if (!nb::try_cast(result, type, false)) throw nb::type_error("a type relation returns a type or None");
  return context.assign_result(type);
}

void set_type_relation(const std::string& name, const std::string& relation, nb::object function) {
  OpDef& op = own_op(name);
  if (!function.is_none()) {
    op.relation = [held = hold(std::move(function))](RelationContext& context, const Attrs& attrs) {
      return python_relation(context, attrs, held.get());
    };
    return;
  }
  const char* like = relation == "Identity" ? "nn.relu" : relation == "Broadcast" ? "add" : nullptr;
  if (!like)
    throw NotSupported("type relation " + relation +
                       ": \"Identity\" and \"Broadcast\" are known by name; give a function for others");
  op.relation = find_op(like)->relation;
}

void change_op(const std::string& name, const std::string& fact, int value) {
  OpDef& op = own_op(name);
  if (fact == "TOpPattern")
    op.fuse = static_cast<Fuse>(value);
  else if (fact == "TOpIsStateful")
    op.stateful = value != 0;
  else
    op.num_inputs = value;
}

void define_op(const std::string& name, const std::string& doc) {
  if (find_op(name)) throw UsageError("operator " + name + " is registered already");
  auto& op = *new OpDef;  // never destroyed, as all operators
  op.name = name;
  op.doc = doc;
  op.num_inputs = OpDef::kVariadic;
  op.relation = [](RelationContext&, const Attrs&) { return kDefer; };
  op.rules.set(MadeInPython{});
  register_ops({&op});
}

/// The same text for as long as the process runs, as operators live.
const char* kept(const std::string& text) {
  static std::set<std::string, std::less<>> texts;  // under the GIL
  return texts.insert(text).first->c_str();
}

}  // namespace

bool is_made_in_python(const OpDef& op) { return op.rules.get<MadeInPython>() != nullptr; }

void bind_op_hooks(nb::module_& m) {
  m.def(
      "set_op_hook",
      [](const std::string& op, const std::string& key, nb::object function) {
        const OpQuestion question = op_question(key);
        set_op_hook(op, question, hook_of(question, std::move(function)));
      },
      nb::arg("op"), nb::arg("key"), nb::arg("function").none(),
      "From now on passes ask `function` what they would have asked the operator's rule; None: calls stay as "
      "they are.");
  m.def(
      "reset_op_hook",
      [](const std::string& op, const std::string& key) { reset_op_hook(op, op_question(key)); },
      nb::arg("op"), nb::arg("key"), "The operator's own rule is asked again.");
  m.def(
      "set_layout_hook",
      [](const std::string& op, nb::object function) {
        set_layout_hook(op, layout_rule_of(std::move(function)));
      },
      nb::arg("op"), nb::arg("function"),
      "From now on layout passes ask `function` how layouts pass through the operator.");
  m.def("reset_layout_hook", &reset_layout_hook, nb::arg("op"), "The operator's own rule is asked again.");
  m.def(
      "target_has_sse41", [](const std::string& target) { return has_sse42(*Target::parse(target)); },
      nb::arg("target"), "Every processor that is known here with SSE 4.1 has 4.2 too.");
  m.def("define_op", &define_op, nb::arg("name"), nb::arg("doc"),
        "Makes an operator that can be typed, not run.");
  m.def("set_type_relation", &set_type_relation, nb::arg("op"), nb::arg("name"), nb::arg("function").none());
  m.def("change_op", &change_op, nb::arg("op"), nb::arg("fact"), nb::arg("value"),
        "Sets TOpPattern, TOpIsStateful or num_inputs of an operator that define_op has made.");
  m.def(
      "op_fact",
      [](const std::string& name, const std::string& fact) {
        const OpDef* op = find_op(name);
        if (!op) throw nb::attribute_error(("there is no operator \"" + name + "\"").c_str());
        return fact == "TOpPattern" ? static_cast<int>(op->fuse) : static_cast<int>(op->stateful);
      },
      nb::arg("op"), nb::arg("fact"), "TOpPattern or TOpIsStateful of an operator, as a number.");
  m.def(
      "add_op_argument",
      [](const std::string& name, const std::string& argument, const std::string& doc) {
        own_op(name).inputs.emplace_back(kept(argument), kept(doc));
      },
      nb::arg("op"), nb::arg("argument"), nb::arg("doc"),
      "Names the next argument of an operator that define_op has made.");
}

}  // namespace baton::python
