#pragma once
// Extents in Python: ints, Any() and symbolic ones.
#include <optional>
#include <vector>

#include "baton/ir/extent.h"

#include "python/casters.h"

namespace baton::python {

/// A symbolic extent; == is identity of extents.
struct SymbolicExtent {
  Dim dim = 0;
};

/// An int, Any() or a symbolic extent; nullopt for anything else.
std::optional<Dim> extent_from_python(nb::handle value);
/// A shape; TypeError for what is no extent.
std::vector<Dim> shape_from_python(nb::handle shape);
/// A symbolic one has the class of its outermost operation.
nb::object extent_to_python(Dim dim);

void bind_extents(nb::module_& m);  // ir/extent.h

}  // namespace baton::python
