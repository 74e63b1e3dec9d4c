#include "baton/ir/analysis/constructors.h"
#include "baton/ir/module.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/text/printer.h"

#include "python/bind.h"
#include "python/cast_as.h"

namespace baton::python {

namespace {

// A function's name; data types have a GlobalTypeVar instead.
std::string name_of(nb::handle name) {
  GlobalVar var;
  if (nb::try_cast(name, var, false)) return var->name();
  if (PyUnicode_Check(name.ptr())) return nb::cast<std::string>(name);
  throw nb::type_error("a function is named by a GlobalVar or a str, a data type by a GlobalTypeVar");
}

Function function_of(const Expr& value) {
  if (Function given = as_ref<FunctionNode>(value)) return given;
  return function(free_vars(value), value);
}

void set(IRModuleNode& module, nb::handle name, nb::handle value) {
  TypeData type;
  if (nb::try_cast(value, type, false)) {
    GlobalTypeVar var;
    const std::string given = nb::try_cast(name, var, false) ? var->name() : name_of(name);
    if (given != type->header()->name())
      throw nb::value_error(("type " + type->header()->name() + " cannot be defined as " + given).c_str());
    return module.set_type(std::move(type));
  }
  module.set(name_of(name), function_of(cast_as<Expr>(value, "what a module holds",
                                                      "a function, an expression or a TypeData")));
}

nb::object get(const IRModuleNode& module, nb::handle name) {
  GlobalTypeVar var;
  if (nb::try_cast(name, var, false)) {
    if (TypeData found = module.find_type(var->name())) return nb::cast(found);
    throw nb::value_error(("the module has no data type \"" + var->name() + "\"").c_str());
  }
  const std::string wanted = name_of(name);
  if (Function found = module.find(wanted)) return nb::cast(found);
  throw nb::value_error(("the module has no function \"" + wanted + "\"").c_str());
}

bool contains(const IRModuleNode& module, nb::handle name) {
  GlobalTypeVar var;
  if (nb::try_cast(name, var, false)) return bool(module.find_type(var->name()));
  return bool(module.find(name_of(name)));
}

void update(IRModuleNode& module, nb::handle definitions) {
  IRModule other;
  if (nb::try_cast(definitions, other, false)) {
    for (const auto& [name, type] : other->type_defs()) module.set_type(type);
    for (const auto& [name, function] : other->functions()) module.set(name, function);
    return;
  }
  for (const auto& [name, value] :
       cast_as<nb::dict>(definitions, "what a module is made or updated from", "an IRModule or a dict"))
    set(module, name, value);
}

IRModule make(const IRModule& module, const nb::object& functions, const nb::object& type_definitions) {
  if (!type_definitions.is_none()) update(*module, type_definitions);
  if (!functions.is_none()) update(*module, functions);
  return module;
}

nb::dict functions(IRModuleNode& module) {
  nb::dict result;
  for (const auto& [name, function] : module.functions())
    result[nb::cast(module.global_var(name))] = nb::cast(function);
  return result;
}

nb::dict type_definitions(IRModuleNode& module) {
  nb::dict result;
  for (const auto& [name, type] : module.type_defs())
    result[nb::cast(module.global_type_var(name))] = nb::cast(type);
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

GlobalTypeVar global_type_var(IRModuleNode& module, const std::string& name) {
  if (!module.find_type(name))
    throw nb::value_error(("the module has no data type \"" + name + "\"").c_str());
  return module.global_type_var(name);
}

std::vector<GlobalTypeVar> global_type_vars(IRModuleNode& module) {
  std::vector<GlobalTypeVar> result;
  for (const auto& [name, type] : module.type_defs()) result.push_back(module.global_type_var(name));
  return result;
}

Constructor constructor(const IRModuleNode& module, nb::handle tag, const std::optional<std::string>& name) {
  if (!name) return find_constructor(module, cast_as<int32_t>(tag, "tag", "an int32"));
  GlobalTypeVar var;
  return find_constructor(module, nb::try_cast(tag, var, false) ? var->name() : name_of(tag), *name);
}

nb::tuple type_and_constructors(IRModuleNode& module, const std::string& name) {
  nb::list result;
  result.append(nb::cast(global_type_var(module, name)));
  for (const Constructor& each : module.find_type(name)->constructors()) result.append(nb::cast(each));
  return nb::tuple(result);
}

std::string module_text(const IRModule& module, bool show_meta_data, std::optional<nb::callable> annotate) {
  if (!annotate) return astext(module, show_meta_data);
  PrintOptions options;
  options.metadata = show_meta_data ? PrintOptions::Metadata::kFull : PrintOptions::Metadata::kComment;
  options.annotate = [&](const Expr& each) {
    return cast_as<std::string>((*annotate)(each), "what annotate() returns", "a str");
  };
  return print(*module, options);
}

}  // namespace

void bind_ir_module(nb::module_& m) {
  nb::class_<IRModuleNode>(m, "IRModule", nb::dynamic_attr(),
                           "Functions by name. Passes return a new module.")
      .def(nb::new_([](const nb::object& functions, const nb::object& types) {
             return make(make_module(), functions, types);
           }),
           nb::arg("functions").none() = nb::none(), nb::arg("type_definitions").none() = nb::none(),
           "Functions by GlobalVar or str, TypeData by GlobalTypeVar or str.")
      .def_static(
          "from_expr",
          [](const Expr& expr, const nb::object& functions, const nb::object& types) {
            return make(module_from_expr(expr), functions, types);
          },
          nb::arg("expr"), nb::arg("functions").none() = nb::none(), nb::arg("type_defs").none() = nb::none(),
          "A module whose main is `expr`, over its free variables when it is no function.")
      .def_prop_ro("functions", &functions, "a dict of Function by GlobalVar, sorted by name")
      .def_prop_ro("type_definitions", &type_definitions,
                   "a dict of TypeData by GlobalTypeVar, sorted by name")
      .def_prop_ro("attrs", [](const IRModuleNode&) { return nb::none(); })
      .def("__getitem__", &get, nb::arg("name"), "ValueError when there is none.")
      .def("__setitem__", &set)
      .def("__contains__", &contains)
      .def("__len__", [](const IRModuleNode& module) { return module.functions().size(); })
      .def("update", &update, nb::arg("functions"),
           "Adds or replaces the functions and data types of a module or a dict.")
      .def("update_func", &set, nb::arg("var"), nb::arg("func"))
      .def("_remove", &IRModuleNode::remove)
      .def("get_global_var", &global_var, nb::arg("name"), "ValueError when there is none.")
      .def("get_global_vars", &global_vars, "sorted by name")
      .def("get_global_type_var", &global_type_var, nb::arg("name"), "ValueError when there is none.")
      .def("get_global_type_vars", &global_type_vars, "sorted by name")
      .def("get_constructor", &constructor, nb::arg("tag"), nb::arg("name").none() = nb::none(),
           "By its tag, or by its type (a GlobalTypeVar or a str) and its name. Raises TVMError.")
      .def("get_type", &type_and_constructors, nb::arg("name"),
           "A tuple: the GlobalTypeVar and its constructors. ValueError when there is no such type.")
      .def(
          "same_as", [](nb::handle a, nb::handle b) { return a.is(b); }, nb::arg("other").none(), "Identity.")
      .def("copy", &IRModuleNode::copy, "Another module with the same functions.")
      .def("__copy__", &IRModuleNode::copy)
      .def("__str__", [](const IRModule& module) { return str(module); })
      .def("astext", &module_text, nb::arg("show_meta_data") = true, nb::arg("annotate").none() = nb::none(),
           "Relay text; `annotate(expr)` replaces the comments behind each expression.");
}

}  // namespace baton::python
