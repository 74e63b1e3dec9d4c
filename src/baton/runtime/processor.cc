#include "baton/runtime/processor.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "baton/runtime/system/timers.h"
#include "baton/support/base/memory.h"

namespace baton {
namespace {

using Kernels = std::shared_ptr<const KernelLibrary>;

thread_local std::string processor_error;

int processor_failed(std::string why) {
  processor_error = std::move(why);
  return -1;
}

/// Halide's kernels take no context, so it holds the kernel itself. A tail call: one extra jump.
int call_kernel(void* context, void** args) { return reinterpret_cast<KernelFunction>(context)(args); }

void* address(uint64_t memory) { return reinterpret_cast<void*>(static_cast<uintptr_t>(memory)); }

int allocate_host(int32_t, size_t bytes, uint64_t* memory) {
  void* const block = allocate_aligned(bytes);
  *memory = reinterpret_cast<uintptr_t>(block);
  return block ? 0 : processor_failed("no memory for " + std::to_string(bytes) + " bytes");
}

int copy_host(void*, int32_t, uint64_t from, int32_t, uint64_t to, size_t bytes) {
  if (bytes) std::memmove(address(to), address(from), bytes);
  return 0;
}

/// All work is synchronous, so one queue suffices.
int create_host_queue(int32_t, void** queue) {
  static char the_queue;
  *queue = &the_queue;
  return 0;
}

int create_host_event(void*, void** event) {
  *event = new uint64_t(0);
  return 0;
}

int record_host_event(void* event, void*) {
  *static_cast<uint64_t*>(event) = ticks();
  return 0;
}

int host_event_ns(void* start, void* stop, double* ns) {
  *ns = static_cast<double>(*static_cast<uint64_t*>(stop) - *static_cast<uint64_t*>(start)) * ns_per_tick();
  return 0;
}

int load_kernels(const void* blob, size_t bytes, void** module) {
  Result<Kernels> library = KernelLibrary::from_memory({static_cast<const uint8_t*>(blob), bytes});
  if (!library.ok()) return processor_failed(library.status().message);
  *module = new Kernels(std::move(*library));
  return 0;
}

int bind_host_kernel(void* module, const char* symbol, int32_t, void*, baton_bound* bound) {
  const Kernels& library = *static_cast<Kernels*>(module);
  const KernelFunction kernel = library ? library->find(symbol) : nullptr;
  if (!kernel) return processor_failed("");
  *bound = bind_kernel(kernel);
  return 0;
}

constexpr baton_backend kProcessor = {
    .abi_version = BATON_BACKEND_ABI,
    .struct_bytes = sizeof(baton_backend),
    .name = "cpu",
    .last_error = [] { return processor_error.c_str(); },
    .device_count = [] { return int32_t{1}; },
    .device_kind = [](int32_t) { return int32_t{kProcessorKind}; },
    .device_name = [](int32_t) { return "processor"; },
    .allocate = allocate_host,
    .release = [](int32_t, uint64_t memory) { std::free(address(memory)); },
    .copy = copy_host,
    .queue_create = create_host_queue,
    .queue_destroy = [](void*) {},
    .queue_wait = [](void*) { return 0; },
    .event_create = create_host_event,
    .event_destroy = [](void* event) { delete static_cast<uint64_t*>(event); },
    .event_record = record_host_event,
    .event_ns = host_event_ns,
    .load = load_kernels,
    .unload = [](void* module) { delete static_cast<Kernels*>(module); },
    .bind = bind_host_kernel,
    .unbind = [](baton_bound) {},
    .parts = nullptr,
    .run_parts = nullptr,
    .memory_bytes = nullptr,
};

}  // namespace

const Plugin& processor() {
  static const Plugin plugin(kProcessor);
  return plugin;
}

std::shared_ptr<const PluginModule> processor_module(std::shared_ptr<const KernelLibrary> kernels) {
  return PluginModule::adopt(processor(), new Kernels(std::move(kernels)));
}

const PluginModule* find_module(std::span<const std::shared_ptr<const PluginModule>> modules,
                                const std::string& backend) {
  for (const auto& module : modules) {
    const bool on_processor = &module->plugin() == &processor();
    if (backend.empty() ? on_processor : !on_processor && module->backend() == backend) return module.get();
  }
  return nullptr;
}

baton_bound bind_kernel(KernelFunction kernel) { return {call_kernel, reinterpret_cast<void*>(kernel)}; }

KernelFunction bound_kernel(const baton_bound& bound) {
  return bound.function == call_kernel ? reinterpret_cast<KernelFunction>(bound.context) : nullptr;
}

}  // namespace baton
