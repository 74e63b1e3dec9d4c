#pragma once
// PlanDevices: every value gets a place, and copies stand where places meet.
#include "baton/pass/pass.h"
#include "baton/transform/devices/compilation_config.h"

namespace baton {

/// Whether the values inside `function` have places of their own: not those of kernels and of other
/// compilers' functions.
bool has_places(const FunctionNode& function);

Pass plan_devices_rewrite();
Pass plan_devices_core(std::function<CompilationConfig(const PassContext&)> config_for);

}  // namespace baton
