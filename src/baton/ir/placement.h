#pragma once
// Device placement of a function's parameters and result. Text writes a parameter's device after its name and
// the result's among the attributes; both are stored as function attributes, parameters by position.
#include <string_view>
#include <vector>

#include "baton/ir/attr_objects.h"

namespace baton {

inline constexpr std::string_view kResultDevice = "virtual_device";
inline constexpr std::string_view kParamDevices =
    "param_virtual_devices";  ///< a list, None where unconstrained

/// The device of the result; null when not annotated.
const VirtualDevice* result_device(const FunctionNode& function);
/// The device of parameter `index`; null when not annotated, or when the number of parameters has changed
/// since.
const VirtualDevice* param_device(const FunctionNode& function, size_t index);
/// `attrs` with parameter devices; removes the attribute when all are unconstrained.
FunctionAttrs with_param_devices(FunctionAttrs attrs, const std::vector<VirtualDevice>& params);
/// `function` with devices for its parameters and its result.
Function with_devices(const Function& function, const std::vector<VirtualDevice>& params,
                      const VirtualDevice& result);

}  // namespace baton
