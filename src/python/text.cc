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
}

}  // namespace baton::python
