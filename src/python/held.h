#pragma once
// Python objects held by C++, and Python callbacks.
#include <functional>
#include <memory>

#include "baton/ir/expr.h"

#include "python/casters.h"

namespace baton::python {

/// A Python object held by C++, which may release it on any thread, with or without the GIL.
using Held = std::shared_ptr<PyObject>;

inline Held hold(nb::object object) {
  return Held(object.release().ptr(), [](PyObject* held) {
    if (!nb::is_alive()) return;
    const nb::gil_scoped_acquire gil;
    Py_DECREF(held);
  });
}

/// A Python predicate.
inline std::function<bool(const Expr&)> predicate_of(nb::object check) {
  return [check = hold(std::move(check))](const Expr& expr) {
    const nb::gil_scoped_acquire gil;
    const int answer = PyObject_IsTrue(nb::handle(check.get())(expr).ptr());
    if (answer < 0) throw nb::python_error();
    return answer != 0;
  };
}

/// RAII: this thread runs the body of a pass written in Python (which may retire origins).
class PythonPassScope {
 public:
  PythonPassScope() { ++depth_; }
  ~PythonPassScope() { --depth_; }
  PythonPassScope(const PythonPassScope&) = delete;
  PythonPassScope& operator=(const PythonPassScope&) = delete;
  static bool open() { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
};

}  // namespace baton::python
