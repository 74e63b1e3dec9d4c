// Exceptions, diagnostics and spans. A DiagnosticError carries its diagnostics, and passes them to the
// renderer set by ir.diagnostics.override_renderer.
#include "baton/support/diagnostic.h"
#include "baton/support/source.h"

#include "python/bind.h"

namespace baton::python {

namespace {

// Never freed, like Python's built-in exception classes.
PyObject *tvm_error, *diagnostic_error, *internal_error_class, *usage_error, *not_supported;
PyObject* renderer = nullptr;

PyObject* new_class(nb::module_& m, const char* name, const char* doc, nb::handle bases) {
  const std::string full = std::string("baton.error.") + name;
  PyObject* made = PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr);
  if (!made) throw nb::python_error();
  m.attr(name) = nb::handle(made);
  return made;
}

void raise_diagnostics(const DiagnosticError& error) {
  nb::list diagnostics;
  for (const Diagnostic& diagnostic : error.diagnostics()) diagnostics.append(nb::cast(diagnostic));
  nb::object exception = nb::handle(diagnostic_error)(error.what());
  exception.attr("diagnostics") = diagnostics;
  if (renderer) {
    const nb::object called = nb::steal(PyObject_CallOneArg(renderer, diagnostics.ptr()));
    if (!called.is_valid()) PyErr_WriteUnraisable(renderer);
  }
  PyErr_SetObject(diagnostic_error, exception.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const DiagnosticError& error) {
    raise_diagnostics(error);
  } catch (const UsageError& error) {
    PyErr_SetString(usage_error, error.what());
  } catch (const NotSupported& error) {
    PyErr_SetString(not_supported, error.what());
  } catch (const Error& error) {
    PyErr_SetString(tvm_error, error.what());
  } catch (const InternalError& error) {
    PyErr_SetString(internal_error_class, error.what());
  } catch (const std::bad_cast&) {  // a failed nb::cast without a message
    PyErr_SetString(PyExc_TypeError, "a value of another type is expected here");
  }
}

}  // namespace

void bind_errors(nb::module_& m) {
  tvm_error = new_class(m, "TVMError", "Something is wrong with what Baton was given.", PyExc_RuntimeError);
  const nb::handle base(tvm_error);
  diagnostic_error =
      new_class(m, "DiagnosticError", "A program is wrong; `diagnostics` lists its mistakes.", base);
  internal_error_class = new_class(m, "InternalError", "A mistake of Baton's own. Please report it.", base);
  usage_error = new_class(m, "UsageError", "An argument is not known, or of the wrong form.",
                          nb::make_tuple(base, nb::handle(PyExc_ValueError)));
  not_supported = new_class(m, "NotSupported", "Well formed, but not provided yet.",
                            nb::make_tuple(base, nb::handle(PyExc_NotImplementedError)));
  nb::register_exception_translator(translate);

  nb::class_<Span>(m, "Span", "A range of a text; lines and columns count from 1.")
      .def(nb::new_([](nb::handle source_name, uint32_t line, uint32_t end_line, uint32_t column,
                       uint32_t end_column) {
             const std::string name = nb::cast<std::string>(nb::str(source_name));
             return Span{make_ref<const Source>(name, std::string()), line, column, end_line, end_column};
           }),
           nb::arg("source_name").none(), nb::arg("line"), nb::arg("end_line"), nb::arg("column"),
           nb::arg("end_column"))
      .def_prop_ro("source_name", [](const Span& s) { return s.source ? s.source->name() : std::string(); })
      .def_ro("line", &Span::line)
      .def_ro("column", &Span::column)
      .def_ro("end_line", &Span::end_line)
      .def_ro("end_column", &Span::end_column)
      .def("__str__", &Span::text);

  nb::class_<Diagnostic>(m, "Diagnostic", "One mistake in a program.")
      .def_prop_ro(
          "level",
          [](const Diagnostic& d) {
            return d.severity == Severity::kError ? 20 : d.severity == Severity::kWarning ? 30 : 40;
          },
          "20 for an error, 30 for a warning, 40 for a note")
      .def_ro("code", &Diagnostic::code)
      .def_ro("message", &Diagnostic::message)
      .def_ro("hint", &Diagnostic::hint)
      .def_prop_ro(
          "span", [](const Diagnostic& d) { return d.span ? std::optional<Span>(d.span) : std::nullopt; },
          "where, or None")
      .def("__str__", [](const Diagnostic& d) { return render(d); });

  m.def(
      "set_renderer",
      [](std::optional<nb::callable> function) {
        PyObject* old = renderer;
        renderer = function ? function->release().ptr() : nullptr;
        Py_XDECREF(old);
      },
      nb::arg("function").none(),
      "Calls `function` with the list of diagnostics before a DiagnosticError is raised.");
}

}  // namespace baton::python
