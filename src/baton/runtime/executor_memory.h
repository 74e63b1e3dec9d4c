// The memory of one executor, and what several of one plan share; for the files that implement them.
#pragma once

#include <cstdlib>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "baton/runtime/device.h"
#include "baton/runtime/plan.h"

namespace baton {

/// Reference counted: returned outputs keep it alive.
struct ExecutorMemory {
  ~ExecutorMemory() { std::free(arena); }

  void* arena = nullptr;                                   // CPU memory
  std::vector<void*> data;                                 // by storage: on the CPU
  std::vector<std::shared_ptr<const DeviceBlock>> blocks;  // by storage: on other devices
  std::vector<NDArray>
      held;  // by storage: the array of an input or a constant; undefined for storage in the arena
  std::vector<NDArray> own;      // by storage: the copy made by set_input
  std::vector<NDArray> brought;  // by entry: host copies of tensors on other devices
  std::vector<baton_dimension> dimensions;
  std::vector<baton_tensor> tensors;          // by entry
  std::vector<std::vector<EntryId>> entries;  // by storage
};

/// Shared by executors whose calls take turns in queues (queue_executor.h). One thread at a time uses a
/// device's queue: so there is one for kernels, one for each link (copies, at both of its ends), and one for
/// the thread that sets inputs and reads results.
struct ExecutorShared {
  std::vector<std::pair<int, std::shared_ptr<Device>>> devices;  // by type: for kernels
  std::vector<std::pair<int, std::shared_ptr<Device>>> edges;    // by type: for inputs and results
  std::map<std::pair<int, int>, std::shared_ptr<Device>> links;  // by the device and the other end
  std::shared_ptr<const ExecutorMemory> first;                   // of the first executor: constants

  /// The queue of a device for copies from and to the other; opened when it is first asked for.
  Result<std::shared_ptr<Device>> link(int of, int with, const Device& like);
};

}  // namespace baton
