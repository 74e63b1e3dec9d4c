// The code of one model: kernels read from a blob, and their PTX as the driver has compiled it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "baton/runtime/gpu/device_code.h"
#include "baton/runtime/plugins/cuda/driver.h"

namespace baton_cuda {

/// A compiled kernel, loaded on a device.
struct Unit {
  explicit Unit(Device& on) : device(on) {}
  ~Unit();
  Device& device;
  baton::DeviceCode code;
  void* module = nullptr;
  std::vector<uint64_t> constant_memory;
};

struct Module {
  Device* device = nullptr;
  std::vector<std::unique_ptr<Unit>> units;
  std::map<std::string, const Unit*, std::less<>> by_name;
};

/// Reads a blob and has the driver compile every kernel for the device. Null with a reason when the bytes are
/// no blob of this version, are damaged, are for later devices, or when the driver refuses them (its log is
/// in the reason).
std::unique_ptr<Module> load_module(std::string_view bytes, Device& device);

}  // namespace baton_cuda
