#pragma once
// Where the values of a function live. Text writes a parameter's place behind its name and the result's among
// the attributes; both are kept as attributes of the function, parameters by position.
#include <string_view>
#include <vector>

#include "baton/ir/attr_objects.h"

namespace baton {

inline constexpr std::string_view kResultDevice = "virtual_device";
inline constexpr std::string_view kParamDevices =
    "param_virtual_devices";  ///< a list, None for those that are open

/// Null when nothing is said.
const VirtualDevice* result_device(const FunctionNode& function);
/// Null when nothing is said, or the function has other parameters than when it was.
const VirtualDevice* param_device(const FunctionNode& function, size_t index);
/// `attrs` with the places of parameters; without any when all are open.
FunctionAttrs with_param_devices(FunctionAttrs attrs, const std::vector<VirtualDevice>& params);
/// `function` with places for its parameters and its result.
Function with_devices(const Function& function, const std::vector<VirtualDevice>& params,
                      const VirtualDevice& result);

}  // namespace baton
