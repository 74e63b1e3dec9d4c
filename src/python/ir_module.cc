#include "baton/ir/module.h"
#include "baton/ir/visit.h"
#include "baton/text/printer.h"

#include "bind.h"

namespace baton::python {

namespace {

std::string name_of(nb::handle name) {
  GlobalVar var;
  if (nb::try_cast(name, var, false)) return var->name();
  if (PyUnicode_Check(name.ptr())) return nb::cast<std::string>(name);
  throw nb::type_error("a function is named by a GlobalVar or a str");
}

Function function_of(const Expr& value) {
  if (Function given = as_ref<FunctionNode>(value)) return given;
  return function(free_vars(value), value);
}

void set(IRModuleNode& module, nb::handle name, const Expr& value) {
  module.set(name_of(name), function_of(value));
}

Function get(const IRModuleNode& module, nb::handle name) {
  const std::string wanted = name_of(name);
  if (Function found = module.find(wanted)) return found;
  throw nb::value_error(("the module has no function \"" + wanted + "\"").c_str());
}

void update(IRModuleNode& module, nb::handle functions) {
  IRModule other;
  if (nb::try_cast(functions, other, false)) {
    for (const auto& [name, function] : other->functions()) module.set(name, function);
    return;
  }
  for (const auto& [name, value] : nb::cast<nb::dict>(functions)) set(module, name, nb::cast<Expr>(value));
}

nb::dict functions(IRModuleNode& module) {
  nb::dict result;
  for (const auto& [name, function] : module.functions())
    result[nb::cast(module.global_var(name))] = nb::cast(function);
  return result;
}

GlobalVar global_var(IRModuleNode& module, const std::string& name) {
  if (!module.find(name)) throw nb::value_error(("the module has no function \"" + name + "\"").c_str());
  return module.global_var(name);
}

std::vector<GlobalVar> global_vars(IRModuleNode& module) {
  std::vector<GlobalVar> result;
  for (const auto& [name, function] : module.functions()) result.push_back(module.global_var(name));
  return result;
}

std::string text_of(const IRModule& module, bool show_meta_data, std::optional<nb::callable> annotate) {
  if (!annotate) return astext(module, show_meta_data);
  PrintOptions options;
  options.metadata = show_meta_data ? PrintOptions::Metadata::kFull : PrintOptions::Metadata::kComment;
  options.annotate = [&](const Expr& each) { return nb::cast<std::string>((*annotate)(each)); };
  return print(*module, options);
}

}  // namespace

void bind_ir_module(nb::module_& m) {
  nb::class_<IRModuleNode>(m, "IRModule", nb::dynamic_attr(),
                           "Functions by name. Passes return a new module.")
      .def(nb::new_([](const nb::object& given, const nb::object&) {
             IRModule module = make_module();
             if (!given.is_none()) update(*module, given);
             return module;
           }),
           nb::arg("functions").none() = nb::none(), nb::arg("type_definitions").none() = nb::none())
      .def_static(
          "from_expr",
          [](const Expr& expr, const nb::object& given, const nb::object&) {
            IRModule module = module_from_expr(expr);
            if (!given.is_none()) update(*module, given);
            return module;
          },
          nb::arg("expr"), nb::arg("functions").none() = nb::none(), nb::arg("type_defs").none() = nb::none(),
          "A module whose main is `expr`, over its free variables when it is no function.")
      .def_prop_ro("functions", &functions, "a dict of Function by GlobalVar, sorted by name")
      .def_prop_ro("type_definitions", [](const IRModuleNode&) { return nb::dict(); })
      .def_prop_ro("attrs", [](const IRModuleNode&) { return nb::none(); })
      .def("__getitem__", &get, nb::arg("name"), "ValueError when there is none.")
      .def("__setitem__", &set)
      .def("__contains__",
           [](const IRModuleNode& module, nb::handle name) { return bool(module.find(name_of(name))); })
      .def("__len__", [](const IRModuleNode& module) { return module.functions().size(); })
      .def("update", &update, nb::arg("functions"), "Adds or replaces those of a module or a dict.")
      .def("update_func", &set, nb::arg("var"), nb::arg("func"))
      .def("_remove", &IRModuleNode::remove)
      .def("get_global_var", &global_var, nb::arg("name"), "ValueError when there is none.")
      .def("get_global_vars", &global_vars, "sorted by name")
      .def(
          "same_as", [](nb::handle a, nb::handle b) { return a.is(b); }, nb::arg("other").none(), "Identity.")
      .def("copy", &IRModuleNode::copy, "Another module with the same functions.")
      .def("__copy__", &IRModuleNode::copy)
      .def("__str__", [](const IRModule& module) { return str(module); })
      .def("astext", &text_of, nb::arg("show_meta_data") = true, nb::arg("annotate").none() = nb::none(),
           "Relay text; `annotate(expr)` replaces the comments behind each expression.");
}

}  // namespace baton::python
