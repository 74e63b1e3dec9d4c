#include "python/ir/caller_place.h"

#include <map>
#include <string>
#include <string_view>

#include "python/bind.h"

namespace baton::python {

namespace {

std::string_view text_in(PyObject* text) {
  Py_ssize_t size = 0;
  const char* data = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &size) : nullptr;
  if (!data) PyErr_Clear();
  return data ? std::string_view(data, static_cast<size_t>(size)) : std::string_view();
}

bool is_inside_package(PyFrameObject* frame) {
  const nb::object globals = nb::steal(PyFrame_GetGlobals(frame));
  const std::string_view name = text_in(PyDict_GetItemString(globals.ptr(), "__name__"));
  return (name == "baton" || name.starts_with("baton.")) && !name.starts_with("baton.relay.testing");
}

/// One for each file, kept: every operator of a program refers to it. The text stays in the file.
Ref<const Source> source_of(std::string_view file) {
  static std::map<std::string, Ref<const Source>, std::less<>> known;
  const auto at = known.find(file);
  if (at != known.end()) return at->second;
  return known.emplace(file, make_ref<const Source>(std::string(file), "")).first->second;
}

}  // namespace

Span caller_span() {
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame.ptr() && is_inside_package(reinterpret_cast<PyFrameObject*>(frame.ptr())))
    frame = nb::steal(
        reinterpret_cast<PyObject*>(PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(frame.ptr()))));
  Span span;
  if (!frame.ptr()) return span;
  auto* const here = reinterpret_cast<PyFrameObject*>(frame.ptr());
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(here)));
  const nb::object file = nb::steal(PyObject_GetAttrString(code.ptr(), "co_filename"));
  const int line = PyFrame_GetLineNumber(here);
  if (!file.is_valid() || line <= 0) {
    PyErr_Clear();
    return span;
  }
  span.source = source_of(text_in(file.ptr()));
  span.line = span.end_line = static_cast<uint32_t>(line);
  return span;
}

}  // namespace baton::python
