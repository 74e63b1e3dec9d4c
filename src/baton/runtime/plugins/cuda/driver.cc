#include "baton/runtime/plugins/cuda/driver.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <dlfcn.h>

namespace baton_cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
constexpr int kCapabilityMajor = 75, kCapabilityMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...

thread_local std::string last_error_text;

/// The first function that the library lacks; null when all are there.
const char* find_functions(void* library, Functions& functions) {
#define BATON_CUDA(name, symbol, parameters)                                           \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(library, symbol)); \
  if (!functions.name) return symbol;
#include "baton/runtime/plugins/cuda/functions.def"
#undef BATON_CUDA
  return nullptr;
}

std::string named(const Functions& functions, int code) {
  const char* name = nullptr;
  if (functions.GetErrorName(code, &name) == kSuccess && name)
    return std::string(name) + " (" + std::to_string(code) + ")";
  return "code " + std::to_string(code);
}

/// Whether a context that gave this code refuses all work from now on: after hardware faults (214, 220),
/// invalid addresses (700, 716, 717), time-outs (702), its end (709), asserts (710), invalid code (714, 715,
/// 718) and failures that are not told apart (719).
bool loses_context(int code) {
  constexpr int kCodes[] = {214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719};
  return std::find(std::begin(kCodes), std::end(kCodes), code) != std::end(kCodes);
}

void open(Driver& found) {
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    found.missing = std::string("this machine has no driver of NVIDIA (no ") + kLibrary +
                    "): a GPU by NVIDIA and its driver are needed, and no toolkit";
    return;
  }
  Functions& cuda = found.cuda;
  if (const char* missing = find_functions(library, cuda)) {
    found.missing = std::string("the driver of NVIDIA is too old: its ") + kLibrary + " has no " + missing;
    return;
  }
  int count = 0;
  int code = cuda.Init(0);
  if (code == kSuccess) code = cuda.DeviceGetCount(&count);
  if (code != kSuccess || count == 0) {
    found.missing = "NVIDIA's driver is here, but it gives no device" +
                    (code == kSuccess ? std::string() : ": " + named(cuda, code));
    return;
  }
  cuda.DriverGetVersion(&found.version);
  for (int number = 0; number < count; ++number) {
    auto device = std::make_unique<Device>();
    device->index = number;
    char name[256] = {};
    int major = 0, minor = 0;
    size_t bytes = 0;
    code = cuda.DeviceGet(&device->id, number);
    if (code == kSuccess) code = cuda.DeviceGetName(name, sizeof name - 1, device->id);
    if (code == kSuccess) code = cuda.DeviceTotalMem(&bytes, device->id);
    if (code == kSuccess) code = cuda.DeviceGetAttribute(&major, kCapabilityMajor, device->id);
    if (code == kSuccess) code = cuda.DeviceGetAttribute(&minor, kCapabilityMinor, device->id);
    if (code != kSuccess) {
      found.missing =
          "NVIDIA's driver says nothing of device " + std::to_string(number) + ": " + named(cuda, code);
      found.devices.clear();
      return;
    }
    device->name = name;
    device->memory_bytes = bytes;
    device->capability = 10 * major + minor;
    found.devices.push_back(std::move(device));
  }
}

}  // namespace

int fail(std::string why) {
  last_error_text = std::move(why);
  return -1;
}

const char* last_error() { return last_error_text.c_str(); }

std::string error_name(int code) {
  return named(cu(), code) + (loses_context(code) ? "; the device takes no more work of this process" : "");
}

int checked(int code, const char* what) {
  return code == kSuccess ? 0 : fail(std::string(what) + ": " + error_name(code));
}

void* Device::context() {
  const std::lock_guard lock(mutex_);
  if (context_) return context_;
  void* made = nullptr;
  if (const int code = cu().DevicePrimaryCtxRetain(&made, id); code != kSuccess) {
    fail("the device `" + name + "` gives no context: " + error_name(code));
    return nullptr;
  }
  return context_ = made;
}

const Driver& driver() {
  // Never destroyed: drivers have threads, and executors may outlive static objects.
  static const Driver* const found = [] {
    auto* driver = new Driver;
    open(*driver);
    return driver;
  }();
  return *found;
}

Device* device_at(int32_t index) {
  if (!driver().missing.empty()) {
    fail(driver().missing);
    return nullptr;
  }
  if (index >= 0 && static_cast<size_t>(index) < driver().devices.size())
    return driver().devices[static_cast<size_t>(index)].get();
  fail("there is no CUDA device " + std::to_string(index) + ", only " +
       std::to_string(driver().devices.size()));
  return nullptr;
}

InContext::InContext(Device& device) {
  void* const context = device.context();
  if (!context) return;
  const int code = cu().CtxPushCurrent(context);
  ok_ = code == kSuccess;
  if (!ok_) checked(code, "the device's context cannot be used");
}

InContext::~InContext() {
  void* context = nullptr;
  if (ok_) cu().CtxPopCurrent(&context);
}

}  // namespace baton_cuda
