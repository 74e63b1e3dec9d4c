#pragma once
// Extents given by Python: ints, Any() and symbolic ones.
#include <optional>
#include <vector>

#include "python/casters.h"
#include "python/symbolic_extent.h"

namespace baton::python {

/// An int, Any() or a symbolic extent; nullopt for anything else.
std::optional<Dim> extent_from_python(nb::handle value);
/// A shape; TypeError for what is no extent.
std::vector<Dim> shape_from_python(nb::handle shape);

void bind_extents(nb::module_& m);  // ir/extent.h

}  // namespace baton::python
