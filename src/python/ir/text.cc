#include "baton/driver/load_json.h"
#include "baton/text/parser.h"
#include "baton/text/std_library.h"
#include "baton/types/infer_type.h"

#include "python/bind.h"
#include "python/cast_as.h"

namespace baton::python {

namespace {

// A dict of lists: the objects for `meta[type_key][index]`.
MetaTable meta_table(const std::optional<nb::dict>& given) {
  MetaTable table;
  if (!given) return table;
  for (const auto& [key, objects] : *given) {
    std::vector<MetaObject>& list = table[cast_as<std::string>(key, "a key of init_meta_table", "a str")];
    for (nb::handle each : cast_as<nb::sequence>(objects, "a value of init_meta_table", "a list")) {
      MetaObject object;
      if (!nb::try_cast(each, object.attrs, false) && !attr_from_python(each, object.value))
        throw nb::type_error("init_meta_table: expressions, Attrs and values of attributes can stand in it");
      list.push_back(std::move(object));
    }
  }
  return table;
}

IRModule read(std::string source, std::string source_name, const std::optional<IRModule>& init,
              const std::optional<nb::dict>& metadata) {
  MetaTable table = meta_table(metadata);
  const nb::gil_scoped_release unlocked;
  return parse_module(std::move(source), std::move(source_name), init.value_or(IRModule()), std::move(table));
}

}  // namespace

void bind_text(nb::module_& m) {
  m.def(
      "parse",
      [](std::string source, std::string source_name, const std::optional<IRModule>& init,
         const std::optional<nb::dict>& metadata) {
        const IRModule module = read(std::move(source), std::move(source_name), init, metadata);
        const nb::gil_scoped_release unlocked;
        return infer_types(module);
      },
      nb::arg("source"), nb::arg("source_name") = "from_string", nb::arg("init_module") = nb::none(),
      nb::arg("init_meta_table") = nb::none(),
      "Reads a module and infers its types. Raises DiagnosticError.");
  m.def("parse_untyped", &read, nb::arg("source"), nb::arg("source_name") = "from_string",
        nb::arg("init_module") = nb::none(), nb::arg("init_meta_table") = nb::none(),
        "Reads a module; infers nothing. Raises DiagnosticError.");
  m.def("parse_expr", &parse_expr, nb::arg("source"), nb::arg("source_name") = "string",
        "Reads an expression; infers nothing. Raises DiagnosticError.");

  m.def("std_library_names", &std_library_names, "What import_std knows.");
  m.def(
      "import_std",
      [](const IRModule& module, const std::string& name) {
        import_std(*module, name);
        infer_types(module);
      },
      nb::arg("module"), nb::arg("name"),
      "Adds a part of the standard library, prelude.rly for one, and infers the module's types. Raises "
      "BatonError when there is none of that name.");
  m.def(
      "import_tensor_array",
      [](const IRModule& module, const std::string& dtype, int number) {
        import_tensor_array(*module, dtype, number);
      },
      nb::arg("module"), nb::arg("dtype"), nb::arg("number"),
      "Adds lists of tensors of an element type; infers nothing.");

  m.def(
      "save_json", [](const IRModule& module, bool source_text) { return to_json(*module, {source_text}); },
      nb::arg("node"), nb::arg("source_text") = true, nb::call_guard<nb::gil_scoped_release>(),
      "A module as Baton's JSON.");
  m.def(
      "save_json", [](const Expr& expr, bool source_text) { return to_json(expr, {source_text}); },
      nb::arg("node"), nb::arg("source_text") = true, nb::call_guard<nb::gil_scoped_release>(),
      "An expression as Baton's JSON.");
  m.def(
      "load_json",
      [](const std::string& text) {
        Saved saved;
        {
          const nb::gil_scoped_release release;
          saved = load_json(text);
        }
        return saved.module ? nb::cast(saved.module) : nb::cast(saved.expr);
      },
      nb::arg("json_str"), "A module or expression from Baton's JSON, or from TVM 0.11.1's.");
}

}  // namespace baton::python
