// The code of one model: kernels read from a blob, and their programs as the driver has built them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "baton/runtime/gpu/device_code.h"
#include "baton/runtime/plugins/opencl/driver.h"

namespace baton_opencl {

using Argument = baton::DeviceArgument;
using Launch = baton::DeviceLaunch;

/// A compiled kernel, built for a device.
struct Unit {
  ~Unit();
  baton::DeviceCode code;
  cl_program program = nullptr;
  std::vector<cl_mem> constant_memory;
};

struct Module {
  Device* device = nullptr;
  std::vector<std::unique_ptr<Unit>> units;
  std::map<std::string, const Unit*, std::less<>> by_name;
};

/// Reads a blob and builds the program of every kernel for the device. Null with a reason when the bytes are
/// no blob of this version, are damaged, or when the driver refuses them (its log is in the reason).
std::unique_ptr<Module> load_module(std::string_view bytes, Device& device);

}  // namespace baton_opencl
