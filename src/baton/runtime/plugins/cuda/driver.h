// CUDA's driver as this machine has it: its library, opened when the plug-in is first used, and the devices.
// A machine without one can thus load the plug-in, and is told what is missing. No toolkit is needed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace baton_cuda {

/// Codes of the driver that are told apart here.
enum Code : int { kSuccess = 0, kOutOfMemory = 2, kPtxTooNew = 222 };

/// Sets the reason of the last failure on this thread, and returns a code for the C table.
int fail(std::string why);
const char* last_error();

/// "CUDA_ERROR_OUT_OF_MEMORY (2)"; of codes after which a context takes no more work, that too.
std::string error_name(int code);

/// 0 for success, else fail() with what was done and the code's name.
int checked(int code, const char* what);

struct Functions {
#define BATON_CUDA(name, symbol, parameters) int(*name) parameters = nullptr;
#include "baton/runtime/plugins/cuda/functions.def"
#undef BATON_CUDA
};

/// A device, with its primary context, which it shares with other libraries in the process.
struct Device {
  int32_t index = 0;
  int id = 0;  ///< the driver's
  std::string name;
  int capability = 0;         ///< 86: of sm_86
  uint64_t memory_bytes = 0;  ///< all that it has
  std::atomic<uint64_t> used_bytes{0};

  /// Made when it is first asked for: it takes memory of the device. Null with a reason.
  void* context();

 private:
  std::mutex mutex_;
  void* context_ = nullptr;
};

struct Driver {
  Functions cuda;
  std::string missing;                           ///< why there is no device; empty when there is one
  int version = 0;                               ///< 12040: CUDA 12.4
  std::vector<std::unique_ptr<Device>> devices;  ///< in the driver's order
};

/// Found once per process.
const Driver& driver();
inline const Functions& cu() { return driver().cuda; }

/// Null with a reason when there is no such device.
Device* device_at(int32_t index);

/// The device's context is that of this thread while one lives. `ok()` is false, with a reason, without one.
class InContext {
 public:
  explicit InContext(Device& device);
  ~InContext();
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
  bool ok() const { return ok_; }

 private:
  bool ok_ = false;
};

}  // namespace baton_cuda
