// What the executors of one plan share whose calls take turns in queues.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "baton/runtime/executor.h"
#include "baton/runtime/executor_memory.h"

namespace baton {

/// One thread at a time uses a device's queue: so there is one for kernels, one for each link (copies, at
/// both of its ends), and one for the thread that sets inputs and reads results.
struct Executor::Shared {
  std::vector<std::pair<int, std::shared_ptr<Device>>> devices;       // by type: for kernels
  std::vector<std::pair<int, std::shared_ptr<Device>>> edges;         // by type: for inputs and results
  std::map<std::pair<int, int>, std::shared_ptr<Device>> links;       // by the device and the other end
  std::shared_ptr<const ExecutorMemory> first;                        // of the first executor: constants

  /// The queue of a device for copies from and to the other; opened when it is first asked for.
  Result<std::shared_ptr<Device>> link(int of, int with, const Device& like);
};

}  // namespace baton
