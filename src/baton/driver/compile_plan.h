#pragma once
// From the kernels of a plan to the code of all backends.
#include <vector>

#include "baton/driver/build_result.h"
#include "baton/pass/build_context.h"

namespace baton {

/// The sheet of the device that a backend's kernels run on; null when the context has none.
const DeviceSheet* sheet_for(const Backend& backend, const BuildContext& context);

/// Chooses a kernel's backend: that of its region if that compiles the kernel itself, else that of the
/// surrounding device's target. Refers to both arguments.
PlaceKernel place_kernels(const std::vector<TargetRef>& targets, const BuildContext& context);

/// Compiles the kernels called by the plan, grouped by backend, into `result`.
void compile_plan(BuildResult& result, const BuildContext& context);

}  // namespace baton
