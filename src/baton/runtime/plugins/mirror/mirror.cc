// The runtime half of the backend `mirror`: a device simulated by the CPU, for tests. Its memory is
// accessible only while the device works on it: a host access causes a segmentation fault. Its kernels get
// addresses of that memory only; host tensors are null to them. A missing copy thus crashes. Its queues are
// threads, so a missing wait reads too early and finds the pages protected.
#include <condition_variable>
#include <cstring>
#include <ctime>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "baton/runtime/baton_backend.h"

namespace {

constexpr int32_t kOtherKind = 12;  // DLPack's kDLExtDev
constexpr size_t kPage = 4096;

const baton_host* host_of_process = nullptr;
thread_local std::string last_error_text;

int fail(std::string why) {
  last_error_text = std::move(why);
  return -1;
}

// ---- Memory.

class Pages {
 public:
  /// 0 when out of memory.
  uint64_t allocate(size_t bytes) {
    const size_t size = (bytes + kPage - 1) / kPage * kPage + kPage;
    void* at = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return 0;
    const std::lock_guard lock(mutex_);
    blocks_[reinterpret_cast<uintptr_t>(at)] = {size, 0};
    return reinterpret_cast<uintptr_t>(at);
  }
  void release(uint64_t memory) {
    const std::lock_guard lock(mutex_);
    const auto at = blocks_.find(memory);
    if (at == blocks_.end()) return;
    munmap(reinterpret_cast<void*>(static_cast<uintptr_t>(memory)), at->second.size);
    blocks_.erase(at);
  }
  /// Accessible from the first open() to the last close(): several queues may read a block at once.
  void open(uint64_t memory) { count(memory, 1); }
  void close(uint64_t memory) { count(memory, -1); }

 private:
  struct Block {
    size_t size;
    int opened;  // by commands that are running
  };
  void count(uint64_t memory, int step) {
    const std::lock_guard lock(mutex_);
    const auto at = blocks_.find(memory);
    if (at == blocks_.end()) return;
    const bool was_open = at->second.opened > 0;
    at->second.opened += step;
    if (const bool is_open = at->second.opened > 0; is_open != was_open)
      mprotect(reinterpret_cast<void*>(static_cast<uintptr_t>(memory)), at->second.size,
               is_open ? PROT_READ | PROT_WRITE : PROT_NONE);
  }

  std::mutex mutex_;
  std::map<uint64_t, Block> blocks_;
};

Pages& pages() {
  static Pages* const all = new Pages;  // never destroyed: executors may outlive static objects
  return *all;
}

/// RAII: makes the blocks accessible while the device works on them.
class OpenPages {
 public:
  explicit OpenPages(std::vector<uint64_t> blocks) : blocks_(std::move(blocks)) {
    for (const uint64_t block : blocks_) pages().open(block);
  }
  ~OpenPages() {
    for (const uint64_t block : blocks_) pages().close(block);
  }
  OpenPages(const OpenPages&) = delete;
  OpenPages& operator=(const OpenPages&) = delete;

 private:
  std::vector<uint64_t> blocks_;
};

void* address(uint64_t memory) { return reinterpret_cast<void*>(static_cast<uintptr_t>(memory)); }

// ---- Queues.

class Queue {
 public:
  Queue() : worker_([this] { work(); }) {}
  ~Queue() {
    put([this] {
      stop_ = true;
      return 0;
    });
    worker_.join();
  }

  /// `command` returns an error code.
  void put(std::function<int()> command) {
    const std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
    changed_.notify_all();
  }

  /// The first nonzero code since the last wait.
  int wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return commands_.empty(); });
    const int code = code_;
    code_ = 0;
    return code;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      changed_.wait(lock, [this] { return !commands_.empty(); });
      const std::function<int()>& command = commands_.front();  // put() does not move existing commands
      lock.unlock();
      const int code = command();
      lock.lock();
      if (code && !code_) code_ = code;
      commands_.pop_front();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<int()>> commands_;  // the first is running
  int code_ = 0;
  bool stop_ = false;
  std::thread worker_;  // last member: it uses the others
};

int wait(void* queue) {
  const int code = static_cast<Queue*>(queue)->wait();
  return code ? fail("a kernel failed with code " + std::to_string(code)) : 0;
}

int copy(void* queue, int32_t from_device, uint64_t from, int32_t to_device, uint64_t to, size_t bytes) {
  std::vector<uint64_t> blocks;
  if (from_device != BATON_HOST) blocks.push_back(from);
  if (to_device != BATON_HOST) blocks.push_back(to);
  static_cast<Queue*>(queue)->put([=] {
    const OpenPages open(blocks);
    std::memmove(address(to), address(from), bytes);
    return 0;
  });
  return blocks.size() == 2 ? 0 : wait(queue);
}

struct Event {
  double ns = 0;
};

int record(void* event, void* queue) {
  static_cast<Queue*>(queue)->put([event] {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    static_cast<Event*>(event)->ns = static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
    return 0;
  });
  return 0;
}

// ---- Code: a shared library of kernels as linked by the CPU's code generator.

struct Module {
  ~Module() {
    if (handle) dlclose(handle);
    if (descriptor >= 0) close(descriptor);
  }
  int descriptor = -1;
  void* handle = nullptr;
};

int load(const void* blob, size_t bytes, void** module) {
  auto loaded = std::make_unique<Module>();
  loaded->descriptor = memfd_create("baton-mirror", MFD_CLOEXEC);
  for (size_t done = 0; done < bytes;) {
    const ssize_t wrote = write(loaded->descriptor, static_cast<const char*>(blob) + done, bytes - done);
    if (wrote <= 0) return fail("its code cannot be written to memory");
    done += static_cast<size_t>(wrote);
  }
  loaded->handle =
      dlopen(("/proc/self/fd/" + std::to_string(loaded->descriptor)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!loaded->handle) return fail(dlerror());
  auto* table = static_cast<baton_kernel_table*>(dlsym(loaded->handle, "baton_kernel_table"));
  if (!table || table->version != host_of_process->services->version)
    return fail("its code was made for another version of Baton");
  *table = *host_of_process->services;
  *module = loaded.release();
  return 0;
}

struct Kernel {
  int (*function)(void** args);
  Queue* queue;
  int32_t tensors;
};

int launch(void* context, void** args) {
  const auto* kernel = static_cast<const Kernel*>(context);
  std::vector<baton_tensor> tensors;
  for (int32_t i = 0; i < kernel->tensors; ++i) tensors.push_back(*static_cast<const baton_tensor*>(args[i]));
  kernel->queue->put([function = kernel->function, tensors = std::move(tensors)]() mutable {
    std::vector<uint64_t> blocks;
    std::vector<void*> here;
    for (baton_tensor& tensor : tensors) {
      if (tensor.memory) blocks.push_back(tensor.memory);
      tensor.host = static_cast<uint8_t*>(address(tensor.memory));  // null for a host tensor
      tensor.memory = 0;
      here.push_back(&tensor);
    }
    const OpenPages open(std::move(blocks));
    return function(here.data());
  });
  return 0;
}

int bind(void* module, const char* symbol, int32_t tensors, void* queue, baton_bound* bound) {
  void* found = dlsym(static_cast<Module*>(module)->handle, (std::string(symbol) + "_argv").c_str());
  if (!found) return fail("its code has no such symbol");
  *bound = {launch,
            new Kernel{reinterpret_cast<int (*)(void**)>(found), static_cast<Queue*>(queue), tensors}};
  return 0;
}

const baton_backend kMirror = {
    .abi_version = BATON_BACKEND_ABI,
    .struct_bytes = sizeof(baton_backend),
    .name = "mirror",
    .last_error = [] { return last_error_text.c_str(); },
    .device_count = [] { return int32_t{1}; },
    .device_kind = [](int32_t) { return kOtherKind; },
    .device_name = [](int32_t) { return "mirror"; },
    .allocate =
        [](int32_t, size_t bytes, uint64_t* memory) {
          *memory = pages().allocate(bytes);
          return *memory ? 0 : fail("no more pages");
        },
    .release = [](int32_t, uint64_t memory) { pages().release(memory); },
    .copy = copy,
    .queue_create =
        [](int32_t, void** queue) {
          *queue = new Queue;
          return 0;
        },
    .queue_destroy = [](void* queue) { delete static_cast<Queue*>(queue); },
    .queue_wait = wait,
    .event_create =
        [](void*, void** event) {
          *event = new Event;
          return 0;
        },
    .event_destroy = [](void* event) { delete static_cast<Event*>(event); },
    .event_record = record,
    .event_ns =
        [](void* start, void* stop, double* ns) {
          *ns = static_cast<Event*>(stop)->ns - static_cast<Event*>(start)->ns;
          return 0;
        },
    .load = load,
    .unload = [](void* module) { delete static_cast<Module*>(module); },
    .bind = bind,
    .unbind = [](baton_bound bound) { delete static_cast<Kernel*>(bound.context); },
    .parts = nullptr,
    .run_parts = nullptr,
    .memory_bytes = nullptr,
};

}  // namespace

extern "C" const baton_backend* baton_backend_entry(const baton_host* host) {
  host_of_process = host;
  return &kMirror;
}
