// A stand-in for CUDA's driver: the functions that the plug-in calls, over the host's memory, with kernels
// interpreted (ptx.h). Tests load it under the driver's name. Work is done when it is enqueued. What goes
// wrong is said by environment variables:
//   FAKE_CUDA_DEVICES=0          no device (default 1)
//   FAKE_CUDA_CAPABILITY=75      the device's (default 86)
//   FAKE_CUDA_MEMORY=65536       its bytes (default 2^30)
//   FAKE_CUDA_FAIL=NAME:N:CODE   call N of that function, from 1, gives this code
// With BATON_OLD_DRIVER defined it lacks cuEventElapsedTime.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "ptx.h"

namespace {

constexpr int kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNoDevice = 100, kNoContext = 201,
              kInvalidImage = 200, kInvalidPtx = 218, kNotFound = 500, kIllegalAddress = 700;

struct FakeModule {
  ptx::Module code;
  explicit FakeModule(const char* text) : code(text) {}
};

struct FakeEvent {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
};

struct State {
  std::mutex mutex;
  std::map<uint64_t, size_t> blocks;
  size_t used = 0;
  std::map<std::string, int> calls;
  int lost = 0;  // what every call gives once a kernel has failed
};

State& state() {
  static State* const all = new State;
  return *all;
}

thread_local int contexts = 0;

long number_in(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atol(text) : otherwise;
}

/// The code that this call is to give.
int asked_failure(const char* function) {
  const std::lock_guard lock(state().mutex);
  const int call = ++state().calls[function];
  if (state().lost) return state().lost;
  const char* text = std::getenv("FAKE_CUDA_FAIL");
  char name[64] = {};
  int number = 0, code = 0;
  if (!text || std::sscanf(text, "%63[^:]:%d:%d", name, &number, &code) != 3) return kSuccess;
  if (std::string(name) != function || call != number) return kSuccess;
  if (code >= 700) state().lost = code;
  return code;
}

int in_context(const char* function) {
  if (contexts == 0) return kNoContext;
  return asked_failure(function);
}

bool owns(uint64_t address, size_t bytes) {
  const std::lock_guard lock(state().mutex);
  auto at = state().blocks.upper_bound(address);
  if (at == state().blocks.begin()) return false;
  --at;
  return address + bytes <= at->first + at->second;
}

void* pointer(uint64_t address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

}  // namespace

extern "C" {

int cuInit(unsigned) { return number_in("FAKE_CUDA_DEVICES", 1) ? asked_failure("cuInit") : kNoDevice; }
int cuDriverGetVersion(int* version) {
  *version = 12040;
  return kSuccess;
}
int cuGetErrorName(int code, const char** name) {
  static const std::map<int, const char*> names = {{1, "CUDA_ERROR_INVALID_VALUE"},
                                                   {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                   {100, "CUDA_ERROR_NO_DEVICE"},
                                                   {200, "CUDA_ERROR_INVALID_IMAGE"},
                                                   {201, "CUDA_ERROR_INVALID_CONTEXT"},
                                                   {218, "CUDA_ERROR_INVALID_PTX"},
                                                   {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                                                   {500, "CUDA_ERROR_NOT_FOUND"},
                                                   {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                   {719, "CUDA_ERROR_LAUNCH_FAILED"}};
  const auto at = names.find(code);
  *name = at == names.end() ? nullptr : at->second;
  return *name ? kSuccess : kInvalidValue;
}
int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(number_in("FAKE_CUDA_DEVICES", 1));
  return asked_failure("cuDeviceGetCount");
}
int cuDeviceGet(int* device, int number) {
  *device = number;
  return kSuccess;
}
int cuDeviceGetName(char* name, int bytes, int) {
  std::snprintf(name, static_cast<size_t>(bytes), "stand-in");
  return kSuccess;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = static_cast<size_t>(number_in("FAKE_CUDA_MEMORY", 1 << 30));
  return kSuccess;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  const int capability = static_cast<int>(number_in("FAKE_CUDA_CAPABILITY", 86));
  *value = attribute == 75 ? capability / 10 : capability % 10;
  return attribute == 75 || attribute == 76 ? kSuccess : kInvalidValue;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &state();
  return asked_failure("cuDevicePrimaryCtxRetain");
}
int cuCtxPushCurrent_v2(void* context) {
  if (context != &state()) return kNoContext;
  ++contexts;
  return kSuccess;
}
int cuCtxPopCurrent_v2(void** context) {
  if (contexts == 0) return kNoContext;
  --contexts;
  *context = &state();
  return kSuccess;
}
int cuMemAlloc_v2(uint64_t* memory, size_t bytes) {
  if (const int code = in_context("cuMemAlloc")) return code;
  const std::lock_guard lock(state().mutex);
  if (state().used + bytes > static_cast<size_t>(number_in("FAKE_CUDA_MEMORY", 1 << 30))) return kOutOfMemory;
  void* const block = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!block) return kOutOfMemory;
  std::memset(block, 0xA5, bytes);
  *memory = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(block));
  state().blocks[*memory] = bytes;
  state().used += bytes;
  return kSuccess;
}
int cuMemFree_v2(uint64_t memory) {
  if (contexts == 0) return kNoContext;
  const std::lock_guard lock(state().mutex);
  const auto at = state().blocks.find(memory);
  if (at == state().blocks.end()) return kInvalidValue;
  state().used -= at->second;
  state().blocks.erase(at);
  std::free(pointer(memory));
  return kSuccess;
}
int cuMemGetAddressRange_v2(uint64_t* begin, size_t* bytes, uint64_t memory) {
  const std::lock_guard lock(state().mutex);
  const auto at = state().blocks.find(memory);
  if (at == state().blocks.end()) return kInvalidValue;
  *begin = memory;
  *bytes = at->second;
  return kSuccess;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
  if (const int code = in_context("cuMemcpyHtoDAsync")) return code;
  if (!owns(to, bytes)) return kInvalidValue;
  std::memcpy(pointer(to), from, bytes);
  return kSuccess;
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
  if (const int code = in_context("cuMemcpyDtoHAsync")) return code;
  if (!owns(from, bytes)) return kInvalidValue;
  std::memcpy(to, pointer(from), bytes);
  return kSuccess;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void*) {
  if (const int code = in_context("cuMemcpyDtoDAsync")) return code;
  if (!owns(from, bytes) || !owns(to, bytes)) return kInvalidValue;
  std::memmove(pointer(to), pointer(from), bytes);
  return kSuccess;
}
int cuMemcpyPeerAsync(uint64_t to, void*, uint64_t from, void*, size_t bytes, void* stream) {
  return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}
int cuStreamCreate(void** stream, unsigned) {
  *stream = new int;
  return in_context("cuStreamCreate");
}
int cuStreamDestroy_v2(void* stream) {
  delete static_cast<int*>(stream);
  return kSuccess;
}
int cuStreamSynchronize(void*) { return in_context("cuStreamSynchronize"); }
int cuEventCreate(void** event, unsigned) {
  *event = new FakeEvent;
  return in_context("cuEventCreate");
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<FakeEvent*>(event);
  return kSuccess;
}
int cuEventRecord(void* event, void*) {
  static_cast<FakeEvent*>(event)->time = std::chrono::steady_clock::now();
  static_cast<FakeEvent*>(event)->recorded = true;
  return in_context("cuEventRecord");
}
#ifndef BATON_OLD_DRIVER
int cuEventElapsedTime(float* milliseconds, void* start, void* stop) {
  const auto &from = *static_cast<FakeEvent*>(start), &to = *static_cast<FakeEvent*>(stop);
  if (!from.recorded || !to.recorded) return kInvalidValue;
  *milliseconds = std::chrono::duration<float, std::milli>(to.time - from.time).count();
  return kSuccess;
}
#endif
int cuModuleLoadDataEx(void** module, const void* image, unsigned options, int* names, void** values) {
  if (const int code = in_context("cuModuleLoadDataEx")) return code;
  // What is neither text nor a binary of the driver's.
  if (!std::strstr(static_cast<const char*>(image), ".version")) return kInvalidImage;
  try {
    *module = new FakeModule(static_cast<const char*>(image));
    return kSuccess;
  } catch (const std::exception& error) {
    size_t bytes = 0;
    for (unsigned i = 0; i < options; ++i)
      if (names[i] == 6) bytes = reinterpret_cast<size_t>(values[i]);
    for (unsigned i = 0; i < options; ++i)
      if (names[i] == 5 && bytes) std::snprintf(static_cast<char*>(values[i]), bytes, "%s", error.what());
    return kInvalidPtx;
  }
}
int cuModuleUnload(void* module) {
  delete static_cast<FakeModule*>(module);
  return kSuccess;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  auto& kernels = static_cast<FakeModule*>(module)->code.kernels;
  const auto at = kernels.find(name);
  if (at == kernels.end()) return kNotFound;
  *function = &at->second;
  return kSuccess;
}
int cuFuncSetAttribute(void*, int, int) { return in_context("cuFuncSetAttribute"); }
int cuLaunchKernel(void* function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                   unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared_bytes, void*,
                   void** parameters, void**) {
  if (const int code = in_context("cuLaunchKernel")) return code;
  if (threads_x * threads_y * threads_z > 1024 || blocks_y > 65535 || blocks_z > 65535) return kInvalidValue;
  const ptx::CheckAccess check = [](uint64_t address, size_t bytes) {
    if (!owns(address, bytes)) throw ptx::Error("an access outside of the device's memory");
  };
  try {
    ptx::launch(*static_cast<ptx::Kernel*>(function), {blocks_x, blocks_y, blocks_z},
                {threads_x, threads_y, threads_z}, shared_bytes, parameters, check);
    return kSuccess;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stand-in for CUDA: %s\n", error.what());
    state().lost = kIllegalAddress;
    return kSuccess;  // said by what waits for it
  }
}

/// For tests: bytes that are allocated, and how often a function was called.
size_t fake_cuda_used_bytes() { return state().used; }
int fake_cuda_calls(const char* function) { return state().calls[function]; }

}  // extern "C"
