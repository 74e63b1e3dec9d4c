// OpenCL as this machine has it: the loader's library, opened when the plug-in is first used, and the devices
// of all drivers. A machine without OpenCL can thus load the plug-in, and is told what is missing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

namespace baton_opencl {

/// Sets the reason of the last failure on this thread, and returns a code for the C table.
int fail(std::string why);
const char* last_error();

/// "CL_OUT_OF_RESOURCES (-5)"
std::string error_name(cl_int code);

struct Functions {
#define BATON_CL(name) decltype(&cl##name) name = nullptr;
#include "baton/runtime/plugins/opencl/functions.def"
#undef BATON_CL
};

/// A device, with a context of its own.
struct Device {
  int32_t index = 0;
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  std::string name;
  uint64_t memory_bytes = 0;   ///< all that it has
  uint64_t largest_block = 0;  ///< bytes of one buffer
  std::atomic<uint64_t> used_bytes{0};
};

struct Driver {
  Functions cl;
  std::string missing;                           ///< why there is no device; empty when there is one
  std::vector<std::unique_ptr<Device>> devices;  ///< GPUs first, processors last
};

/// Found once per process.
const Driver& driver();
inline const Functions& cl() { return driver().cl; }

/// Null with a reason when there is no such device.
Device* device_at(int32_t index);

}  // namespace baton_opencl
