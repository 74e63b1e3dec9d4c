// A device for tests of the runtime, inside the program: its kernels are functions of the tests. Its queues
// are threads, so that completion has to be waited for.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "baton/runtime/plugin.h"

namespace baton::desk {

/// DLPack's kDLMetal is used by no other plug-in of the tests.
inline constexpr int kKind = 8;

using Kernel = std::function<int(std::vector<float*> tensors, int count)>;

inline std::map<std::string, Kernel> kernels;
inline std::atomic<int64_t> free_bytes{int64_t{1} << 30};
inline std::atomic<int> queues_created{0};

class Queue {
 public:
  Queue() : worker_([this] { work(); }) { ++queues_created; }
  ~Queue() {
    put(nullptr);
    worker_.join();
  }
  void put(std::function<int()> command) {
    const std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
    changed_.notify_all();
  }
  int wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return commands_.empty(); });
    return std::exchange(code_, 0);
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !commands_.empty(); });
      const std::function<int()> command = commands_.front();
      if (!command) return;
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
  std::thread worker_;
};

struct Bound {
  const Kernel* kernel;
  Queue* queue;
  int32_t tensors;
};

inline float* at(uint64_t memory) { return reinterpret_cast<float*>(static_cast<uintptr_t>(memory)); }

inline int launch(void* context, void** args) {
  const auto& bound = *static_cast<const Bound*>(context);
  std::vector<float*> tensors;
  for (int32_t i = 0; i < bound.tensors; ++i)
    tensors.push_back(at(static_cast<const baton_tensor*>(args[i])->memory));
  const auto* last = static_cast<const baton_tensor*>(args[bound.tensors - 1]);
  int count = 1;
  for (int32_t d = 0; d < last->dimensions; ++d) count *= last->dim[d].extent;
  bound.queue->put([kernel = bound.kernel, tensors, count] { return (*kernel)(tensors, count); });
  return 0;
}

inline const baton_backend table = {
    .abi_version = BATON_BACKEND_ABI,
    .struct_bytes = sizeof(baton_backend),
    .name = "desk",
    .last_error = [] { return "the desk is full"; },
    .device_count = [] { return int32_t{1}; },
    .device_kind = [](int32_t) { return int32_t{kKind}; },
    .device_name = [](int32_t) { return "desk"; },
    .allocate =
        [](int32_t, size_t bytes, uint64_t* memory) {
          if ((free_bytes -= static_cast<int64_t>(bytes)) < 0) {
            free_bytes += static_cast<int64_t>(bytes);
            return -1;
          }
          auto* block = static_cast<uint64_t*>(std::calloc(1, bytes + sizeof(uint64_t)));
          *block = bytes;
          *memory = reinterpret_cast<uintptr_t>(block + 1);
          return 0;
        },
    .release =
        [](int32_t, uint64_t memory) {
          auto* block = reinterpret_cast<uint64_t*>(static_cast<uintptr_t>(memory)) - 1;
          free_bytes += static_cast<int64_t>(*block);
          std::free(block);
        },
    .copy =
        [](void* queue, int32_t from_device, uint64_t from, int32_t to_device, uint64_t to, size_t bytes) {
          auto& on = *static_cast<Queue*>(queue);
          on.put([=] {
            std::memmove(at(to), at(from), bytes);
            return 0;
          });
          return from_device >= 0 && to_device >= 0 ? 0 : on.wait();
        },
    .queue_create =
        [](int32_t, void** queue) {
          *queue = new Queue;
          return 0;
        },
    .queue_destroy = [](void* queue) { delete static_cast<Queue*>(queue); },
    .queue_wait = [](void* queue) { return static_cast<Queue*>(queue)->wait(); },
    .event_create = [](void*, void**) { return -1; },
    .event_destroy = [](void*) {},
    .event_record = [](void*, void*) { return -1; },
    .event_ns = [](void*, void*, double*) { return -1; },
    .load =
        [](const void*, size_t, void** module) {
          *module = nullptr;
          return 0;
        },
    .unload = [](void*) {},
    .bind =
        [](void*, const char* symbol, int32_t tensors, void* queue, baton_bound* bound) {
          const auto found = kernels.find(symbol);
          if (found == kernels.end()) return -1;
          *bound = {launch, new Bound{&found->second, static_cast<Queue*>(queue), tensors}};
          return 0;
        },
    .unbind = [](baton_bound bound) { delete static_cast<Bound*>(bound.context); },
    .parts = nullptr,
    .run_parts = nullptr,
    .memory_bytes = nullptr,
};

/// The plug-in, with `add_one` and `add` and what a test adds to `kernels`.
inline std::shared_ptr<const PluginModule> module() {
  static const Plugin& plugin = []() -> const Plugin& {
    kernels["add_one"] = [](const std::vector<float*>& tensors, int count) {
      for (int i = 0; i < count; ++i) tensors[1][i] = tensors[0][i] + 1;
      return 0;
    };
    kernels["add"] = [](const std::vector<float*>& tensors, int count) {
      for (int i = 0; i < count; ++i) tensors[2][i] = tensors[0][i] + tensors[1][i];
      return 0;
    };
    const auto added = Plugin::add(table);
    EXPECT_TRUE(added.ok()) << added.status().message;
    return **added;
  }();
  return PluginModule::adopt(plugin, nullptr);
}

}  // namespace baton::desk
