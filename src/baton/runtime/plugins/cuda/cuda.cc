// The runtime half of the backend `cuda`: devices, memory, streams, events, copies, and kernels that the
// driver compiles from PTX when a model is loaded. Needs NVIDIA's driver, and nothing of its toolkit.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baton/runtime/baton_backend.h"
#include "baton/runtime/plugins/cuda/module.h"
#include "baton/runtime/plugins/cuda/queue.h"

namespace baton_cuda {
namespace {

using baton::DeviceArgument;
using baton::DeviceLaunch;

constexpr int32_t kDlpackCuda = 2;
constexpr uint32_t kUsualSharedBytes = 48 << 10;  // of a block; more must be asked for
constexpr int kSharedBytesAttribute = 8;          // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

/// A launch with the values of its arguments, and the addresses of these, which the driver takes.
struct BoundLaunch {
  const DeviceLaunch* launch = nullptr;
  void* function = nullptr;
  std::vector<uint64_t> values;
  std::vector<void*> parameters;
};

struct Bound {
  Queue* queue = nullptr;
  const Unit* unit = nullptr;
  std::vector<BoundLaunch> launches;
};

/// What a device function gets for an argument: an address, or a number.
uint64_t value_of(const DeviceArgument& argument, const Bound& bound, void** args) {
  switch (argument.kind) {
    case DeviceArgument::Kind::kTensor:
      return static_cast<const baton_tensor*>(args[argument.index])->memory;
    case DeviceArgument::Kind::kScratch:
      return bound.queue->scratch[argument.index];
    case DeviceArgument::Kind::kConstant:
      return bound.unit->constant_memory[argument.index];
    case DeviceArgument::Kind::kNumber:
      break;
  }
  return argument.number;
}

int launch_failed(const DeviceLaunch& launch, const char* what, int code) {
  return fail("the device function `" + launch.function + "` " + what + ": " + error_name(code));
}

int run(void* context, void** args) {
  auto& bound = *static_cast<Bound*>(context);
  const InContext here(*bound.queue->device);
  if (!here.ok()) return -1;
  for (BoundLaunch& each : bound.launches) {
    const DeviceLaunch& launch = *each.launch;
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      each.values[i] = value_of(launch.arguments[i], bound, args);
      if (!each.values[i] && launch.arguments[i].kind != DeviceArgument::Kind::kNumber)
        return fail("an argument of `" + launch.function + "` is not in the device's memory");
    }
    if (bound.queue->before_command() != 0) return -1;
    const uint32_t *const blocks = launch.blocks, *const threads = launch.threads;
    const int code =
        cu().LaunchKernel(each.function, blocks[0], blocks[1], blocks[2], threads[0], threads[1], threads[2],
                          launch.shared_bytes, bound.queue->stream, each.parameters.data(), nullptr);
    if (code != kSuccess) return launch_failed(launch, "cannot be started", code);
  }
  return 0;
}

int prepare(const Unit& unit, const DeviceLaunch& launch, BoundLaunch& bound) {
  bound.launch = &launch;
  int code = cu().ModuleGetFunction(&bound.function, unit.module, launch.function.c_str());
  if (code != kSuccess) return launch_failed(launch, "is not in its code", code);
  if (launch.shared_bytes > kUsualSharedBytes)
    code =
        cu().FuncSetAttribute(bound.function, kSharedBytesAttribute, static_cast<int>(launch.shared_bytes));
  if (code != kSuccess)
    return launch_failed(
        launch, ("needs " + std::to_string(launch.shared_bytes) + " bytes of shared memory").c_str(), code);
  bound.values.resize(launch.arguments.size());
  for (uint64_t& value : bound.values) bound.parameters.push_back(&value);
  return 0;
}

int load(const void* blob, size_t bytes, void** module) {
  Device* const device = device_at(0);
  if (!device) return -1;
  std::unique_ptr<Module> loaded = load_module({static_cast<const char*>(blob), bytes}, *device);
  if (!loaded) return -1;
  *module = loaded.release();
  return 0;
}

int bind(void* handle, const char* symbol, int32_t tensors, void* queue, baton_bound* result) {
  const auto& module = *static_cast<const Module*>(handle);
  const auto at = module.by_name.find(symbol);
  if (at == module.by_name.end()) return fail("its code has no such kernel");
  const Unit& unit = *at->second;
  if (static_cast<uint32_t>(tensors) != unit.code.tensors)
    return fail("it has " + std::to_string(unit.code.tensors) + " tensors, not " + std::to_string(tensors));
  auto bound = std::make_unique<Bound>();
  bound->queue = static_cast<Queue*>(queue);
  bound->unit = &unit;
  if (bound->queue->device != module.device)
    return fail("its code was built for `" + module.device->name + "`, the queue is of `" +
                bound->queue->device->name + "`");
  const InContext here(*module.device);
  if (!here.ok()) return -1;
  if (const int code = bound->queue->reserve(unit.code.scratch)) return code;
  bound->launches.resize(unit.code.launches.size());
  for (size_t i = 0; i < bound->launches.size(); ++i)
    if (const int code = prepare(unit, unit.code.launches[i], bound->launches[i])) return code;
  *result = {run, bound.release()};
  return 0;
}

const baton_backend kCuda = {
    .abi_version = BATON_BACKEND_ABI,
    .struct_bytes = sizeof(baton_backend),
    .name = "cuda",
    .last_error = last_error,
    .device_count = [] { return static_cast<int32_t>(driver().devices.size()); },
    .device_kind = [](int32_t) { return kDlpackCuda; },
    .device_name = [](int32_t device) { return driver().devices[static_cast<size_t>(device)]->name.c_str(); },
    .allocate = allocate,
    .release = release,
    .copy = copy,
    .queue_create = queue_create,
    .queue_destroy = [](void* queue) { delete static_cast<Queue*>(queue); },
    .queue_wait = queue_wait,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_ns = event_ns,
    .load = load,
    .unload = [](void* module) { delete static_cast<Module*>(module); },
    .bind = bind,
    .unbind = [](baton_bound bound) { delete static_cast<Bound*>(bound.context); },
    .parts = nullptr,
    .run_parts = nullptr,
    .memory_bytes =
        [](int32_t index, uint64_t* bytes) {
          const Device* const device = device_at(index);
          if (!device) return -1;
          *bytes = device->memory_bytes;
          return 0;
        },
};

}  // namespace
}  // namespace baton_cuda

extern "C" const baton_backend* baton_backend_entry(const baton_host*) { return &baton_cuda::kCuda; }
