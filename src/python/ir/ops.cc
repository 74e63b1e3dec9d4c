#include "baton/ir/op.h"
#include "baton/ir/rules/result_count.h"

#include "python/ir/op_hooks.h"

namespace baton::python {

namespace {

const OpDef& known_op(const std::string& name) {
  const OpDef* def = find_op(name);
  if (!def) throw nb::attribute_error(("there is no operator \"" + name + "\"").c_str());
  return *def;
}

}  // namespace

void bind_ops(nb::module_& m) {
  bind_op_hooks(m);
  m.def(
      "get_op", [](const std::string& name) -> Expr { return op_expr(known_op(name)); }, nb::arg("op_name"),
      "The operator of that name; AttributeError when there is none.");
  m.def(
      "list_op_names",
      [] {
        std::vector<std::string> names;
        for (const OpDef* def : all_ops()) names.push_back(def->name);
        return names;
      },
      "Sorted.");
  m.def(
      "op_python", [](const std::string& name) { return known_op(name).python; }, nb::arg("name"),
      "Where relay.op has the operator's builder, and its parameters where they are not the inputs, then the "
      "attributes: \"transform\", \"nn.dense(data, weight, units=None)\". \"\": as the name says.");
  m.def(
      "result_count", [](const Call& call) { return result_count(*call); }, nb::arg("call"),
      "How many tensors the tuple has that this call gives; None when it gives no tuple.");
  m.def(
      "op_signature",
      [](const std::string& name) {
        const OpDef* def = &known_op(name);
        nb::list inputs, attrs;
        for (const OpInput& input : def->inputs) {
          if (def->num_inputs >= 0 && nb::len(inputs) == static_cast<size_t>(def->num_inputs))
            break;  // the rest are attributes
          inputs.append(nb::make_tuple(std::string(input.name), std::string(input.doc)));
        }
        if (def->attrs) {
          for (const AttrField& field : def->attrs->fields) {
            attrs.append(
                nb::make_tuple(field.name, field.default_value.has_value(),
                               field.default_value ? attr_to_python(*field.default_value) : nb::none(),
                               field.doc, field.type->expects));
          }
        }
        return nb::make_tuple(inputs, attrs);
      },
      nb::arg("name"),
      "([(input of a call, doc)], [(attribute, has a default, default, doc, what it expects: \"a list, "
      "..\")])");
}

}  // namespace baton::python
