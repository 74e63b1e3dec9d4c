#pragma once
// PlanDevices: assigns a device to every value and inserts copies between devices.
#include "baton/pass/pass.h"
#include "baton/support/pointer_map.h"
#include "baton/transform/devices/compilation_config.h"

namespace baton {

/// Whether values inside `function` have devices of their own: false for kernels and functions of external
/// compilers.
bool has_places(const FunctionNode& function);

/// The device types (DLPack's) that calls in a typed module get by PlanDevices.
PointerMap<int> devices_of_calls(const IRModuleNode& module, const CompilationConfig& config);

/// The same of all values in such functions: calls, variables, branches.
PointerMap<int> devices_of_values(const IRModuleNode& module, const CompilationConfig& config);

Pass plan_devices_rewrite();
Pass plan_devices_core(std::function<CompilationConfig(const PassContext&)> config_for);

}  // namespace baton
