#include "baton/driver/load_json.h"
#include "baton/text/parser.h"
#include "baton/transform/infer_type.h"

#include "bind.h"

namespace baton::python {

void bind_text(nb::module_& m) {
  m.def(
      "parse",
      [](std::string source, std::string source_name, const std::optional<IRModule>& init) {
        return infer_types(parse_module(std::move(source), std::move(source_name), init.value_or(IRModule())));
      },
      nb::arg("source"), nb::arg("source_name") = "from_string", nb::arg("init_module") = nb::none(),
      nb::call_guard<nb::gil_scoped_release>(),
      "Reads a module and infers its types. Raises DiagnosticError.");
  m.def(
      "parse_untyped",
      [](std::string source, std::string source_name, const std::optional<IRModule>& init) {
        return parse_module(std::move(source), std::move(source_name), init.value_or(IRModule()));
      },
      nb::arg("source"), nb::arg("source_name") = "from_string", nb::arg("init_module") = nb::none(),
      nb::call_guard<nb::gil_scoped_release>(), "Reads a module; infers nothing. Raises DiagnosticError.");
  m.def("parse_expr", &parse_expr, nb::arg("source"), nb::arg("source_name") = "string",
        "Reads an expression; infers nothing. Raises DiagnosticError.");
  m.def(
      "save_json", [](const IRModule& module, bool source_text) { return to_json(*module, {source_text}); }, nb::arg("node"),
      nb::arg("source_text") = true, nb::call_guard<nb::gil_scoped_release>(), "A module as Baton's JSON.");
  m.def(
      "save_json", [](const Expr& expr, bool source_text) { return to_json(expr, {source_text}); }, nb::arg("node"),
      nb::arg("source_text") = true, nb::call_guard<nb::gil_scoped_release>(), "An expression as Baton's JSON.");
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
