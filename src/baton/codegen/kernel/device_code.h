#pragma once
// What a GPU kernel consists of: the source text of its device functions, and the launches that compute it.
// Halide writes both into one module: the source as a buffer, the launches as calls of its own runtime in the
// code for the host. All extents are constants here, so the launches are too: they are read off the module,
// and the runtime half of a backend needs nothing of Halide. Needs Halide.h: for .cc files of codegen only.
#include <cstdint>
#include <string>
#include <vector>

#include <Halide.h>

namespace baton {

/// An argument of a device function.
struct DeviceArgument {
  enum class Kind : uint32_t {
    kTensor = 0,    ///< the kernel's tensor `index`: inputs in order, then outputs
    kScratch = 1,   ///< an intermediate result
    kConstant = 2,  ///< an array of the kernel
    kNumber = 3     ///< the low `bytes` of `number`
  };
  Kind kind = Kind::kNumber;
  uint32_t index = 0;
  uint32_t bytes = 0;
  uint64_t number = 0;
  friend bool operator==(const DeviceArgument&, const DeviceArgument&) = default;
};

/// One launch of a device function. Its last parameter, after `arguments`, is `shared_bytes` of memory shared
/// by a block.
struct DeviceLaunch {
  std::string function;
  uint32_t blocks[3] = {1, 1, 1}, threads[3] = {1, 1, 1};  ///< threads: per block
  uint32_t shared_bytes = 0;
  std::vector<DeviceArgument> arguments;
  friend bool operator==(const DeviceLaunch&, const DeviceLaunch&) = default;
};

struct DeviceCode {
  std::string source;
  uint32_t tensors = 0;                ///< arguments of the kernel
  std::vector<std::string> constants;  ///< their bytes
  std::vector<uint64_t> scratch;       ///< bytes of each intermediate result
  std::vector<DeviceLaunch> launches;  ///< in order; each sees what those before it have written
  friend bool operator==(const DeviceCode&, const DeviceCode&) = default;
};

/// Reads the code off a module compiled for a GPU. Names in the source do not depend on what the process has
/// compiled before. InternalError when a part is computed on the host: the schedule missed a Func.
DeviceCode device_code(const Halide::Module& module);

/// The code as bytes, little-endian (docs/design/0028-opencl.md has the format).
std::string packed(const DeviceCode& code);

}  // namespace baton
