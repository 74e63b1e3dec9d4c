#pragma once
// Where the values of a fused program are: what PlanDevices wrote down, read back.
#include <functional>
#include <optional>

#include "baton/ir/expr.h"
#include "baton/support/pointer_map.h"

namespace baton {

/// Of a kernel that only moves its argument from one device to another: between which; else null.
struct DeviceCopy {
  int from = 1, to = 1;
};
std::optional<DeviceCopy> device_copy_of(const FunctionNode& function);

/// By expression of the body of `main`, its parameters included: DLPack's number of the device; the processor
/// where nothing is said. `device_of` says on which device a kernel runs whatever its surroundings are, 0 when
/// that is open (kernels of regions). A value is where the kernel runs that computes it, a constant where it
/// is read first.
PointerMap<int> value_devices(const FunctionNode& main,
                              const std::function<int(const FunctionNode& kernel)>& device_of);

}  // namespace baton
