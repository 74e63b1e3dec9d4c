#pragma once
// Which targets a program is compiled for, and which device a value lives on when nothing else is said.
#include <string>
#include <vector>

#include "baton/ir/attr_objects.h"
#include "baton/pass/pass.h"

namespace baton {

struct CompilationConfig {
  std::vector<TargetRef> primitive_targets;  ///< sorted by device type, each with the host's target
  VirtualDevice default_device;              ///< of computations
  VirtualDevice host_device;                 ///< of shapes and control

  /// `targets` such as {"llvm", "cuda"}; `host` may be empty: "llvm". The context's
  /// relay.fallback_device_type says which of several is the default, else it is the processor.
  static CompilationConfig make(const PassContext& context, const std::vector<std::string>& targets,
                                const std::string& host = {});
  /// The only target, or null when there are several.
  TargetRef optional_homogeneous_target() const {
    return primitive_targets.size() == 1 ? primitive_targets[0] : TargetRef();
  }
  /// `device` with its target filled in. UsageError when there is none for its type.
  VirtualDevice canonical(VirtualDevice device) const;
  std::string text() const;
};

}  // namespace baton
