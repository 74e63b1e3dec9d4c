#pragma once
// Python objects that C++ keeps.
#include <memory>

#include "casters.h"

namespace baton::python {

/// A Python object held by C++ that may let it go on any thread, with or without the GIL.
using Held = std::shared_ptr<PyObject>;

inline Held hold(nb::object object) {
  return Held(object.release().ptr(), [](PyObject* held) {
    if (!nb::is_alive()) return;
    const nb::gil_scoped_acquire gil;
    Py_DECREF(held);
  });
}

}  // namespace baton::python
