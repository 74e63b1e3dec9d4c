#pragma once
// Regions that a Python function computes: a backend without devices, whose kernels call back into Python.
#include "baton/codegen/backend.h"

#include "python/held.h"

namespace baton::python {

/// The region as one kernel that calls `function`(inputs, outputs), lists of NDArrays: views of the kernel's
/// tensors. `region`: typed; its composites are inlined.
BuiltRegion region_of_function(const Function& region, Held function, const BuildContext& context);

/// Makes `backend` one that compiles such regions.
void add_region_functions(Backend& backend);

/// Makes their run half known to the runtime.
void register_region_functions();

}  // namespace baton::python
