#pragma once
#include "python/bind.h"

namespace baton {
struct OpDef;
}

namespace baton::python {

/// Marks operators defined in Python.
struct MadeInPython {};
bool is_made_in_python(const OpDef& op);

void bind_op_hooks(nb::module_& m);  // transform/op_hooks.h; called by bind_ops

}  // namespace baton::python
