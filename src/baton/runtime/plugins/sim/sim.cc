// The runtime half of `sim`: simulated devices. The processor computes their kernels, in memory of the
// device's own, on the thread that enqueues them; the time that events report is that of a clock that each
// queue advances by what its device sheet says. Nothing waits for that time to pass.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "baton/runtime/baton_backend.h"
#include "baton/runtime/plugins/sim/sim_blob.h"

namespace {

using baton::sim_blob::Program;

constexpr size_t kAlignment = 64;

const baton_host* host_of_process = nullptr;
thread_local std::string last_error_text;

int fail(std::string why) {
  last_error_text = std::move(why);
  return -1;
}

void* address(uint64_t memory) { return reinterpret_cast<void*>(static_cast<uintptr_t>(memory)); }

// ---- Devices: each becomes known when code for it is loaded, and stays.

struct SimDevice {
  explicit SimDevice(baton::sim_blob::Device given)
      : facts(std::move(given)), shown(facts.name + " (simulated)") {}
  const baton::sim_blob::Device facts;
  const std::string shown;
  std::atomic<int64_t> bytes_in_use{0};

  double link_ns(size_t bytes) const {
    return facts.link_latency_ns + static_cast<double>(bytes) / facts.link_gbytes_per_s;
  }
};

class Devices {
 public:
  /// The device, or null when another one has its number.
  SimDevice* add(const baton::sim_blob::Device& facts) {
    const std::lock_guard lock(mutex_);
    for (SimDevice& known : all_)
      if (known.facts.kind == facts.kind) return known.facts == facts ? &known : nullptr;
    return &all_.emplace_back(facts);
  }
  int32_t count() {
    const std::lock_guard lock(mutex_);
    return static_cast<int32_t>(all_.size());
  }
  SimDevice& at(int32_t device) {
    const std::lock_guard lock(mutex_);
    return all_[static_cast<size_t>(device)];  // a deque does not move its elements
  }

 private:
  std::mutex mutex_;
  std::deque<SimDevice> all_;
};

Devices& devices() {
  static Devices* const all = new Devices;  // never destroyed: executors may outlive static objects
  return *all;
}

// ---- Memory: counted, so that a device runs out of it as a real one does.

class Blocks {
 public:
  void add(uint64_t memory, int64_t bytes) {
    const std::lock_guard lock(mutex_);
    bytes_[memory] = bytes;
  }
  int64_t remove(uint64_t memory) {
    const std::lock_guard lock(mutex_);
    const auto at = bytes_.find(memory);
    if (at == bytes_.end()) return -1;
    const int64_t bytes = at->second;
    bytes_.erase(at);
    return bytes;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, int64_t> bytes_;
};

Blocks& blocks() {
  static Blocks* const all = new Blocks;
  return *all;
}

int allocate(int32_t index, size_t bytes, uint64_t* memory) {
  SimDevice& device = devices().at(index);
  const auto wanted = static_cast<int64_t>(bytes);
  int64_t used = device.bytes_in_use;
  do {
    if (wanted < 0 || wanted > device.facts.memory_bytes - used)
      return fail(std::to_string(used) + " of its " + std::to_string(device.facts.memory_bytes) +
                  " bytes are in use (the size is that of the device sheet)");
  } while (!device.bytes_in_use.compare_exchange_weak(used, used + wanted));
  void* block = std::aligned_alloc(kAlignment, (bytes + kAlignment) / kAlignment * kAlignment);
  if (!block) {
    device.bytes_in_use -= wanted;
    return fail("the processor, whose memory it uses, has none left");
  }
  *memory = reinterpret_cast<uintptr_t>(block);
  blocks().add(*memory, wanted);
  return 0;
}

void release(int32_t index, uint64_t memory) {
  const int64_t bytes = blocks().remove(memory);
  if (bytes < 0) return;
  devices().at(index).bytes_in_use -= bytes;
  std::free(address(memory));
}

// ---- Queues: a clock. Commands are complete when they have been enqueued.

struct Queue {
  double now_ns = 0;
};

int copy(void* queue, int32_t from_device, uint64_t from, int32_t to_device, uint64_t to, size_t bytes) {
  std::memmove(address(to), address(from), bytes);
  double& now_ns = static_cast<Queue*>(queue)->now_ns;
  if (from_device == to_device) {  // read and written there
    now_ns += 2 * static_cast<double>(bytes) / devices().at(to_device).facts.memory_gbytes_per_s;
    return 0;
  }
  // Two devices have no link of their own: what goes from one to the other goes through the host.
  if (from_device != BATON_HOST) now_ns += devices().at(from_device).link_ns(bytes);
  if (to_device != BATON_HOST) now_ns += devices().at(to_device).link_ns(bytes);
  return 0;
}

// ---- Code.

struct Module {
  ~Module() {
    if (handle) dlclose(handle);
    if (descriptor >= 0) close(descriptor);
  }
  std::unordered_map<std::string, double> ns_of;
  int descriptor = -1;
  void* handle = nullptr;
};

int open_library(const std::string& bytes, Module& module) {
  module.descriptor = memfd_create("baton-sim", MFD_CLOEXEC);
  if (module.descriptor < 0) return fail("its code cannot be written to memory");
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t wrote = write(module.descriptor, bytes.data() + done, bytes.size() - done);
    if (wrote <= 0) return fail("its code cannot be written to memory");
    done += static_cast<size_t>(wrote);
  }
  const std::string path = "/proc/self/fd/" + std::to_string(module.descriptor);
  module.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module.handle) return fail(dlerror());
  auto* table = static_cast<baton_kernel_table*>(dlsym(module.handle, "baton_kernel_table"));
  if (!table || table->version != host_of_process->services->version)
    return fail("its code was made for another version of Baton");
  *table = *host_of_process->services;
  return 0;
}

int load(const void* blob, size_t bytes, void** module) {
  Program program;
  const std::string why = baton::sim_blob::read({static_cast<const char*>(blob), bytes}, program);
  if (!why.empty()) return fail(why);
  const baton::sim_blob::Device& facts = program.device;
  if (facts.kind < BATON_FIRST_SIMULATED_KIND || facts.kind > BATON_LAST_KIND) return fail("it is damaged");
  auto loaded = std::make_unique<Module>();
  if (open_library(program.library, *loaded)) return -1;
  if (!devices().add(facts))
    return fail("its device sheet `" + facts.name +
                "` differs from one of that name in use here: build the " +
                "model again, or load it in another process");
  for (auto& [name, ns] : program.kernels) loaded->ns_of.emplace(std::move(name), ns);
  *module = loaded.release();
  return 0;
}

struct Kernel {
  int (*function)(void** args);
  Queue* queue;
  double ns;
  std::vector<baton_tensor> tensors;  // with addresses of the device's memory
  std::vector<void*> args;
};

int launch(void* context, void** args) {
  auto& kernel = *static_cast<Kernel*>(context);
  for (size_t i = 0; i < kernel.tensors.size(); ++i) {
    kernel.tensors[i] = *static_cast<const baton_tensor*>(args[i]);
    kernel.tensors[i].host = static_cast<uint8_t*>(address(kernel.tensors[i].memory));
    kernel.tensors[i].memory = 0;
    if (!kernel.tensors[i].host) return fail("a tensor is not in the device's memory");
  }
  const int code = kernel.function(kernel.args.data());
  if (code) return fail("a kernel failed with code " + std::to_string(code));
  kernel.queue->now_ns += kernel.ns;
  return 0;
}

int bind(void* module, const char* symbol, int32_t tensors, void* queue, baton_bound* bound) {
  const Module& from = *static_cast<Module*>(module);
  void* found = dlsym(from.handle, (std::string(symbol) + "_argv").c_str());
  const auto time = from.ns_of.find(symbol);
  if (!found || time == from.ns_of.end()) return fail("its code has no such symbol");
  auto kernel = std::make_unique<Kernel>();
  kernel->function = reinterpret_cast<int (*)(void**)>(found);
  kernel->queue = static_cast<Queue*>(queue);
  kernel->ns = time->second;
  kernel->tensors.resize(static_cast<size_t>(tensors));
  for (baton_tensor& tensor : kernel->tensors) kernel->args.push_back(&tensor);
  *bound = {launch, kernel.release()};
  return 0;
}

const baton_backend kSim = {
    .abi_version = BATON_BACKEND_ABI,
    .struct_bytes = sizeof(baton_backend),
    .name = "sim",
    .last_error = [] { return last_error_text.c_str(); },
    .device_count = [] { return devices().count(); },
    .device_kind = [](int32_t device) { return static_cast<int32_t>(devices().at(device).facts.kind); },
    .device_name = [](int32_t device) { return devices().at(device).shown.c_str(); },
    .allocate = allocate,
    .release = release,
    .copy = copy,
    .queue_create =
        [](int32_t, void** queue) {
          *queue = new Queue;
          return 0;
        },
    .queue_destroy = [](void* queue) { delete static_cast<Queue*>(queue); },
    .queue_wait = [](void*) { return 0; },
    .event_create =
        [](void*, void** event) {
          *event = new double(0);
          return 0;
        },
    .event_destroy = [](void* event) { delete static_cast<double*>(event); },
    .event_record =
        [](void* event, void* queue) {
          *static_cast<double*>(event) = static_cast<Queue*>(queue)->now_ns;
          return 0;
        },
    .event_ns =
        [](void* start, void* stop, double* ns) {
          *ns = *static_cast<double*>(stop) - *static_cast<double*>(start);
          return 0;
        },
    .load = load,
    .unload = [](void* module) { delete static_cast<Module*>(module); },
    .bind = bind,
    .unbind = [](baton_bound bound) { delete static_cast<Kernel*>(bound.context); },
    .parts = nullptr,
    .run_parts = nullptr,
    .memory_bytes = nullptr,  // in its sheet
};

}  // namespace

extern "C" const baton_backend* baton_backend_entry(const baton_host* host) {
  host_of_process = host;
  return &kSim;
}
