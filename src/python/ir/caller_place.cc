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

constexpr int kMostCallers = 6;

/// A file and a line; the line is 0 where they are not known.
struct FrameLine {
  nb::object file;
  int line = 0;
  std::string_view path() const { return text_in(file.ptr()); }
};

FrameLine line_of(const nb::object& frame) {
  auto* const here = reinterpret_cast<PyFrameObject*>(frame.ptr());
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(here)));
  FrameLine line{nb::steal(PyObject_GetAttrString(code.ptr(), "co_filename")), PyFrame_GetLineNumber(here)};
  if (!line.file.is_valid() || line.line <= 0) {
    PyErr_Clear();
    line.line = 0;
  }
  return line;
}

nb::object caller_of(const nb::object& frame) {
  return nb::steal(
      reinterpret_cast<PyObject*>(PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(frame.ptr()))));
}

/// Whether a file is of a package that runs programs (pytest, IPython) or of Python itself.
bool is_installed(std::string_view path) {
  return path.find("/lib/python3") != path.npos || path.find("-packages/") != path.npos ||
         path.starts_with("<frozen");
}

std::string callers_of(nb::object frame) {
  std::string text;
  for (int count = 0; count < kMostCallers; ++count) {
    do frame = caller_of(frame);
    while (frame.ptr() && is_inside_package(reinterpret_cast<PyFrameObject*>(frame.ptr())));
    if (!frame.ptr()) break;
    const FrameLine at = line_of(frame);
    const std::string_view path = at.line > 0 ? at.path() : std::string_view();
    if (path.empty() || is_installed(path)) break;
    text = std::string(path.substr(path.rfind('/') + 1)) + ":" + std::to_string(at.line) +
           (text.empty() ? "" : " > " + text);
  }
  return text;
}

}  // namespace

CallerPlace caller_place() {
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame.ptr() && is_inside_package(reinterpret_cast<PyFrameObject*>(frame.ptr())))
    frame = caller_of(frame);
  CallerPlace place;
  if (!frame.ptr()) return place;
  const FrameLine here = line_of(frame);
  if (here.line == 0) return place;
  place.span.source = source_of(here.path());
  place.span.line = place.span.end_line = static_cast<uint32_t>(here.line);
  place.callers = callers_of(std::move(frame));
  return place;
}

}  // namespace baton::python
