#include "baton/ir/attr_objects.h"
#include "baton/ir/op.h"
#include "baton/support/error.h"

#include "python/bind.h"
#include "python/cast_as.h"

namespace baton {

// Attributes of no operator, which TVM registers for tests of calls and of relations.
struct TestAttrs {
  int64_t axis = 10;
  std::string name = {};
  std::vector<int64_t> padding = {0, 0};
};
template <>
const AttrSchema& attr_schema<TestAttrs>() {
  static const AttrSchema schema =
      make_schema<TestAttrs>("attrs.TestAttrs", {{"axis", &TestAttrs::axis, "an axis"},
                                                 {"name", &TestAttrs::name, "a name"},
                                                 {"padding", &TestAttrs::padding, "padding"}});
  return schema;
}

}  // namespace baton

namespace baton::python {

namespace {

nb::object field(const AttrsNode& attrs, const std::string& name, PyObject* error) {
  if (attrs.schema().find(name)) return attr_to_python(attrs.get(name));
  PyErr_SetString(error, (attrs.schema().type_key + " has no attribute \"" + name + "\"").c_str());
  throw nb::python_error();
}

std::string all_text(const AttrsNode& attrs) {
  std::string text;
  for (const AttrField& each : attrs.schema().fields) {
    text += (text.empty() ? "" : ", ") + each.name + "=" + attr_text(attrs.get(each.name));
  }
  return attrs.schema().type_key + "(" + text + ")";
}

}  // namespace

void bind_attrs(nb::module_& m) {
  nb::class_<VirtualDevice>(m, "VirtualDevice",
                            "Where a value lives: a device by type (as in DLPack) and number, a memory scope "
                            "and a target; -1 and \"\": open.")
      .def(
          "__init__",
          [](VirtualDevice* self, int device_type, int device_id, const std::string& memory_scope,
             const std::string& target, const std::string& host) {
            TargetRef made = target.empty() ? TargetRef() : Target::parse(target);
            if (made && !host.empty()) made = with_host(made, Target::parse(host));
            new (self) VirtualDevice{device_type, device_id, memory_scope, std::move(made)};
          },
          nb::arg("device_type") = -1, nb::arg("virtual_device_id") = -1, nb::arg("memory_scope") = "",
          nb::arg("target") = "", nb::arg("host") = "")
      .def_prop_ro("_target",
                   [](const VirtualDevice& d) { return d.target ? d.target->options() : std::string(); })
      .def_prop_ro("_host",
                   [](const VirtualDevice& d) {
                     return d.target && d.target->host ? d.target->host->options() : std::string();
                   })
      .def_ro("device_type_int", &VirtualDevice::device_type)
      .def_ro("device_type", &VirtualDevice::device_type)
      .def_ro("virtual_device_id", &VirtualDevice::device_id)
      .def_ro("memory_scope", &VirtualDevice::memory_scope)
      .def(
          "__eq__",
          [](const VirtualDevice& a, nb::handle b) {
            return nb::isinstance<VirtualDevice>(b) && a == nb::cast<const VirtualDevice&>(b);
          },
          nb::arg("other").none())
      .def("__hash__",
           [](const VirtualDevice& d) { return static_cast<Py_hash_t>(VirtualDeviceAttr(d).hash() >> 1); })
      .def("__str__", &VirtualDevice::text)
      .def("__repr__", &VirtualDevice::text);

  nb::class_<AttrsNode>(m, "Attrs", "The attributes of a call: read as attrs.NAME or attrs[\"NAME\"].")
      .def("__getattr__",
           [](const AttrsNode& a, const std::string& name) { return field(a, name, PyExc_AttributeError); })
      .def("__getitem__",
           [](const AttrsNode& a, const std::string& name) { return field(a, name, PyExc_KeyError); })
      .def("__contains__",
           [](const AttrsNode& a, const std::string& name) { return a.schema().find(name) != nullptr; })
      .def(
          "keys",
          [](const AttrsNode& a) {
            std::vector<std::string> names;
            for (const AttrField& each : a.schema().fields) names.push_back(each.name);
            return names;
          },
          "The names, in the order of the text.")
      .def(
          "list_field_info",
          [](const AttrsNode& a) {
            const nb::object simple = nb::module_::import_("types").attr("SimpleNamespace");
            nb::list fields;
            for (const AttrField& each : a.schema().fields) {
              nb::dict facts;
              facts["name"] = each.name;
              facts["type_info"] = each.type->expects;
              facts["description"] = each.doc;
              fields.append(simple(**facts));
            }
            return fields;
          },
          "What there is to know of each: objects with name, type_info and description.")
      .def("get_int", [](const AttrsNode& a,
                         const std::string& name) { return nb::int_(field(a, name, PyExc_KeyError)); })
      .def("get_str", [](const AttrsNode& a,
                         const std::string& name) { return nb::str(field(a, name, PyExc_KeyError)); })
      .def("get_int_tuple", [](const AttrsNode& a,
                               const std::string& name) { return nb::tuple(field(a, name, PyExc_KeyError)); })
      .def_prop_ro("type_key", [](const AttrsNode& a) { return a.schema().type_key; })
      .def(
          "__eq__",
          [](const AttrsNode& a, nb::handle b) {
            Attrs other;
            return nb::try_cast(b, other, false) && same_attrs(Attrs(&a), other);
          },
          nb::arg("other").none())
      .def("__hash__", [](const AttrsNode& a) { return static_cast<Py_hash_t>(attrs_hash(Attrs(&a)) >> 1); })
      .def("__str__", &all_text)
      .def("__repr__", &all_text);

  m.def(
      "make_attrs",
      [](const std::string& op, const nb::dict& given) -> Attrs {
        const auto values = attrs_from_python(given, "attributes of " + op);
        const OpDef* def = find_op(op);
        if (!def) throw nb::value_error(("there is no operator \"" + op + "\"").c_str());
        if (!def->attrs) {
          if (!values.empty()) throw nb::type_error((op + " has no attributes").c_str());
          return {};
        }
        return make_attrs(*def->attrs, values);
      },
      nb::arg("op"), nb::arg("values"), "The attributes of an operator: these values, the rest by default.");
  m.def(
      "make_attrs_of",
      [](const std::string& type_key, const nb::dict& given) -> Attrs {
        const auto values = attrs_from_python(given, "attributes of " + type_key);
        for (const OpDef* op : all_ops())
          if (op->attrs && op->attrs->type_key == type_key) return make_attrs(*op->attrs, values);
        if (type_key == "attrs.TestAttrs") return make_attrs(attr_schema<TestAttrs>(), values);
        throw NotSupported("make_node: Baton has no class called " + type_key);
      },
      nb::arg("type_key"), nb::arg("values"),
      "Attributes of the class that TVM calls `type_key`: these values, the rest by default.");
}

}  // namespace baton::python
