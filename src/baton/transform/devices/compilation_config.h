#pragma once
// The targets a program is compiled for, and the default devices.
#include <string>
#include <vector>

#include "baton/ir/attr_objects.h"
#include "baton/pass/pass.h"

namespace baton {

struct CompilationConfig {
  std::vector<TargetRef> primitive_targets;  ///< sorted by device type, each with its host target
  VirtualDevice default_device;              ///< for computations
  VirtualDevice host_device;                 ///< for shapes and control flow

  /// `targets` such as {"llvm", "cuda"}; an empty `host` is "llvm". The default device is the context's
  /// relay.fallback_device_type if set, else the CPU.
  static CompilationConfig make(const PassContext& context, const std::vector<std::string>& targets,
                                const std::string& host = {});
  /// The only target; null when there are several.
  TargetRef optional_homogeneous_target() const {
    return primitive_targets.size() == 1 ? primitive_targets[0] : TargetRef();
  }
  /// `device` with its target filled in. UsageError when no target has its device type.
  VirtualDevice canonical(VirtualDevice device) const;
  std::string text() const;
};

}  // namespace baton
