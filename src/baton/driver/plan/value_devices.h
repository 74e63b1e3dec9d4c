#pragma once
// The devices of values in a fused program: reads back PlanDevices' annotations and the regions' backends.
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "baton/ir/module.h"
#include "baton/support/pointer_map.h"

namespace baton {

struct Backend;

/// The two devices of a kernel that only copies its argument between devices; null for other kernels.
struct DeviceCopy {
  int from = 1, to = 1;
};
std::optional<DeviceCopy> device_copy_of(const FunctionNode& function);
/// Why a node that the compiler adds makes it.
std::string copy_reason(const DeviceCopy& between);
/// The device copy kernel for tensors of `type`.
Function make_device_copy(const Type& type, const DeviceCopy& between, const OriginSet& origins);

/// Where a kernel runs: the backend's name (empty: the CPU's) and DLPack device type.
struct KernelPlace {
  std::string backend;
  int device_type = 1;
  std::shared_ptr<const Backend> compiler =
      {};  ///< that backend's record; null: of a copy, or not to be built
};

/// The placement of a kernel used on device `around`: there, or elsewhere when it belongs to a region of
/// another backend.
using PlaceKernel = std::function<KernelPlace(const FunctionNode& kernel, int around)>;

/// The primitive function called by `call`, as a literal or by name; null when there is none.
Function kernel_called(const IRModuleNode& module, const CallNode& call);

/// DLPack device type of each expression in the body of `main`, and of its parameters; the CPU by default. A
/// value is on the device of the kernel that computes it, a constant on that of its first use.
PointerMap<int> value_devices(const IRModuleNode& module, const FunctionNode& main, const PlaceKernel& place);

}  // namespace baton
