#pragma once
// Where the values of a fused program are: what PlanDevices wrote down, read back, and what the backends of
// regions say.
#include <functional>
#include <optional>
#include <string>

#include "baton/ir/module.h"
#include "baton/support/pointer_map.h"

namespace baton {

/// Of a kernel that only moves its argument from one device to another: between which; else null.
struct DeviceCopy {
  int from = 1, to = 1;
};
std::optional<DeviceCopy> device_copy_of(const FunctionNode& function);
/// The kernel that does so for tensors of `type`.
Function make_device_copy(const Type& type, const DeviceCopy& between, const OriginSet& origins);

/// Who runs a kernel: the name of a backend (empty: the processor's own) and DLPack's number of its device.
struct KernelPlace {
  std::string backend;
  int device_type = 1;
};

/// Where a kernel runs that stands among values of the device `around`: there, or elsewhere when it belongs
/// to a region of another backend.
using PlaceKernel = std::function<KernelPlace(const FunctionNode& kernel, int around)>;

/// The primitive function that a call calls, written out or by name; null when it calls none.
Function kernel_called(const IRModuleNode& module, const CallNode& call);

/// DLPack's number of the device for each expression of the body of `main`, and for its parameters; the
/// processor where nothing is said. A value is where the kernel runs that computes it, a constant where it is
/// read first.
PointerMap<int> value_devices(const IRModuleNode& module, const FunctionNode& main, const PlaceKernel& place);

}  // namespace baton
