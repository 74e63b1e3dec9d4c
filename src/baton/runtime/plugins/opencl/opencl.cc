// The runtime half of the backend `opencl`: devices, memory, queues with profiling events, copies, and
// kernels that the driver compiles from source when a model is loaded. Any OpenCL 1.2 driver will do.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baton/runtime/baton_backend.h"
#include "baton/runtime/plugins/opencl/module.h"
#include "baton/runtime/plugins/opencl/queue.h"

namespace baton_opencl {
namespace {

constexpr int32_t kOpenClKind = 4;  // DLPack's kDLOpenCL

/// A launch with a kernel object of its own: setting arguments is not thread safe.
struct BoundLaunch {
  BoundLaunch() = default;
  BoundLaunch(const BoundLaunch&) = delete;
  BoundLaunch& operator=(const BoundLaunch&) = delete;
  ~BoundLaunch() {
    if (kernel) cl().ReleaseKernel(kernel);
  }
  const Launch* launch = nullptr;
  cl_kernel kernel = nullptr;
};

struct Bound {
  Queue* queue = nullptr;
  const Unit* unit = nullptr;
  std::vector<std::unique_ptr<BoundLaunch>> launches;
};

/// Null: the argument is a number.
cl_mem memory_of(const Argument& argument, const Bound& bound, void** args) {
  switch (argument.kind) {
    case Argument::Kind::kTensor:
      return reinterpret_cast<cl_mem>(
          static_cast<uintptr_t>(static_cast<const baton_tensor*>(args[argument.index])->memory));
    case Argument::Kind::kScratch:
      return bound.queue->scratch[argument.index];
    case Argument::Kind::kConstant:
      return bound.unit->constant_memory[argument.index];
    case Argument::Kind::kNumber:
      break;
  }
  return nullptr;
}

int launch_failed(const Launch& launch, const char* what, cl_int code) {
  return fail("the device function `" + launch.function + "` " + what + ": " + error_name(code));
}

int set_arguments(const Bound& bound, const BoundLaunch& each, void** args) {
  for (size_t i = 0; i < each.launch->arguments.size(); ++i) {
    const Argument& argument = each.launch->arguments[i];
    if (argument.kind == Argument::Kind::kNumber) continue;  // set when it was bound
    const cl_mem memory = memory_of(argument, bound, args);
    if (!memory) return fail("an argument of `" + each.launch->function + "` is not in the device's memory");
    const cl_int code = cl().SetKernelArg(each.kernel, static_cast<cl_uint>(i), sizeof(cl_mem), &memory);
    if (code != CL_SUCCESS) return launch_failed(*each.launch, "takes no such argument", code);
  }
  return 0;
}

int run(void* context, void** args) {
  const auto& bound = *static_cast<const Bound*>(context);
  for (const std::unique_ptr<BoundLaunch>& each : bound.launches) {
    if (const int code = set_arguments(bound, *each, args)) return code;
    size_t all[3], block[3];
    for (int axis = 0; axis < 3; ++axis) {
      block[axis] = each->launch->threads[axis];
      all[axis] = each->launch->blocks[axis] * block[axis];
    }
    cl_event event = nullptr;
    const cl_int code = cl().EnqueueNDRangeKernel(bound.queue->queue, each->kernel, 3, nullptr, all, block, 0,
                                                  nullptr, &event);
    if (code != CL_SUCCESS) return launch_failed(*each->launch, "cannot be started", code);
    bound.queue->enqueued(event);
  }
  return 0;
}

/// Creates the kernel object and sets the arguments that stay: numbers, and the shared memory behind them.
int prepare(const Unit& unit, const Launch& launch, BoundLaunch& bound) {
  cl_int code = CL_SUCCESS;
  bound.launch = &launch;
  bound.kernel = cl().CreateKernel(unit.program, launch.function.c_str(), &code);
  if (code != CL_SUCCESS) return launch_failed(launch, "is not in its program", code);
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument& argument = launch.arguments[i];
    if (argument.kind != Argument::Kind::kNumber) continue;
    code = cl().SetKernelArg(bound.kernel, static_cast<cl_uint>(i), argument.bytes, &argument.number);
    if (code != CL_SUCCESS) return launch_failed(launch, "takes no such number", code);
  }
  code = cl().SetKernelArg(bound.kernel, static_cast<cl_uint>(launch.arguments.size()),
                           launch.shared_bytes ? launch.shared_bytes : 1, nullptr);
  return code == CL_SUCCESS ? 0 : launch_failed(launch, "takes no shared memory", code);
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
  if (const int code = bound->queue->reserve(unit.code.scratch)) return code;
  for (const Launch& launch : unit.code.launches) {
    bound->launches.push_back(std::make_unique<BoundLaunch>());
    if (const int code = prepare(unit, launch, *bound->launches.back())) return code;
  }
  *result = {run, bound.release()};
  return 0;
}

const baton_backend kOpenCl = {
    .abi_version = BATON_BACKEND_ABI,
    .struct_bytes = sizeof(baton_backend),
    .name = "opencl",
    .last_error = last_error,
    .device_count = [] { return static_cast<int32_t>(driver().devices.size()); },
    .device_kind = [](int32_t) { return kOpenClKind; },
    .device_name = [](int32_t device) { return driver().devices[static_cast<size_t>(device)]->name.c_str(); },
    .allocate = allocate,
    .release = release,
    .copy = copy,
    .queue_create = queue_create,
    .queue_destroy = [](void* queue) { delete static_cast<Queue*>(queue); },
    .queue_wait = queue_wait,
    .event_create =
        [](void*, void** event) {
          *event = new Event;
          return 0;
        },
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
}  // namespace baton_opencl

extern "C" const baton_backend* baton_backend_entry(const baton_host*) { return &baton_opencl::kOpenCl; }
