#pragma once
// The OpenCL device of this machine, for tests.
#include <string>

#include "baton/runtime/plugin.h"

namespace baton {

/// DLPack's type of OpenCL devices.
inline constexpr int kOpenClKind = 4;

/// Why tests cannot run on OpenCL here; empty when they can.
inline std::string opencl_missing() {
  const Result<const Plugin*> found = Plugin::find("opencl");
  if (!found.ok()) return found.status().message;
  if ((*found)->device_of_kind(kOpenClKind) >= 0) return "";
  void* module = nullptr;
  (*found)->table().load("", 0, &module);
  return "no OpenCL device" + (*found)->reason();
}

}  // namespace baton
