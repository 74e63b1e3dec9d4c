#include "baton/runtime/plugins/opencl/driver.h"

#include <algorithm>
#include <utility>

#include <dlfcn.h>

namespace baton_opencl {
namespace {

constexpr const char* kLoader = "libOpenCL.so.1";
constexpr const char* kAdvice =
    ": install a driver for the device (on Debian, `ocl-icd-libopencl1` and for example `pocl-opencl-icd`, "
    "which runs on the processor; in a clone of Baton `./baton setup opencl` installs them)";

thread_local std::string last_error_text;

/// The first function that the loader lacks; null when all are there.
const char* find_functions(void* library, Functions& functions) {
#define BATON_CL(name)                                                                     \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(library, "cl" #name)); \
  if (!functions.name) return "cl" #name;
#include "baton/runtime/plugins/opencl/functions.def"
#undef BATON_CL
  return nullptr;
}

template <class Value>
Value info(const Functions& functions, cl_device_id id, cl_device_info what) {
  Value value{};
  functions.GetDeviceInfo(id, what, sizeof value, &value, nullptr);
  return value;
}

std::string name_of(const Functions& functions, cl_device_id id) {
  size_t bytes = 0;
  functions.GetDeviceInfo(id, CL_DEVICE_NAME, 0, nullptr, &bytes);
  std::string name(bytes, '\0');
  functions.GetDeviceInfo(id, CL_DEVICE_NAME, bytes, name.data(), nullptr);
  while (!name.empty() && name.back() == '\0') name.pop_back();
  return name;
}

std::vector<cl_device_id> device_ids(const Functions& functions) {
  cl_uint platforms_count = 0;
  if (functions.GetPlatformIDs(0, nullptr, &platforms_count) != CL_SUCCESS) return {};
  std::vector<cl_platform_id> platforms(platforms_count);
  functions.GetPlatformIDs(platforms_count, platforms.data(), nullptr);
  std::vector<cl_device_id> all;
  for (const cl_platform_id platform : platforms) {
    cl_uint count = 0;
    if (functions.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
    std::vector<cl_device_id> ids(count);
    functions.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr);
    all.insert(all.end(), ids.begin(), ids.end());
  }
  const auto is_processor = [&](cl_device_id id) {
    return (info<cl_device_type>(functions, id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  };
  std::stable_partition(all.begin(), all.end(), [&](cl_device_id id) { return !is_processor(id); });
  return all;
}

void open(Driver& found) {
  void* const library = dlopen(kLoader, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    found.missing = std::string("this machine has no OpenCL (no ") + kLoader + ")" + kAdvice;
    return;
  }
  if (const char* missing = find_functions(library, found.cl)) {
    found.missing = std::string(kLoader) + " is older than OpenCL 1.2: it has no " + missing;
    return;
  }
  std::string refused;
  for (const cl_device_id id : device_ids(found.cl)) {
    auto device = std::make_unique<Device>();
    device->index = static_cast<int32_t>(found.devices.size());
    device->id = id;
    device->name = name_of(found.cl, id);
    device->memory_bytes = info<cl_ulong>(found.cl, id, CL_DEVICE_GLOBAL_MEM_SIZE);
    device->largest_block = info<cl_ulong>(found.cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    cl_int code = CL_SUCCESS;
    device->context = found.cl.CreateContext(nullptr, 1, &id, nullptr, nullptr, &code);
    if (code == CL_SUCCESS) {
      found.devices.push_back(std::move(device));
    } else {
      refused = "the OpenCL device `" + device->name + "` gives no context: " + error_name(code);
    }
  }
  if (found.devices.empty())
    found.missing =
        refused.empty() ? std::string("OpenCL is here, but no driver with a device") + kAdvice : refused;
}

}  // namespace

int fail(std::string why) {
  last_error_text = std::move(why);
  return -1;
}

const char* last_error() { return last_error_text.c_str(); }

std::string error_name(cl_int code) {
  struct Named {
    cl_int code;
    const char* name;
  };
  constexpr Named kNames[] = {
      {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
      {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
      {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
      {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
      {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
      {CL_INVALID_VALUE, "CL_INVALID_VALUE"},
      {CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
      {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
      {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
      {CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
      {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
      {CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE"},
      {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
      {CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE"},
      {CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE"},
  };
  for (const Named& named : kNames)
    if (named.code == code) return std::string(named.name) + " (" + std::to_string(code) + ")";
  return "code " + std::to_string(code);
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
  fail("there is no OpenCL device " + std::to_string(index) + ", only " +
       std::to_string(driver().devices.size()));
  return nullptr;
}

}  // namespace baton_opencl
