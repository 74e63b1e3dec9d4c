// What kernels of one executor see: shared by the files that make it.
#pragma once

#include <cstdlib>
#include <vector>

#include "baton/runtime/device.h"
#include "baton/runtime/plan.h"

namespace baton {

/// Outputs handed out keep it alive.
struct ExecutorMemory {
  ~ExecutorMemory() { std::free(arena); }

  void* arena = nullptr;            // of the processor
  std::vector<void*> data;          // by storage: on the processor
  std::vector<DeviceBlock> blocks;  // by storage: on other devices
  std::vector<NDArray> held;     // by storage: what an input or a constant points to; undefined in the arena
  std::vector<NDArray> own;      // by storage: memory of an input that set_input copies to
  std::vector<NDArray> brought;  // by entry: where tensors of other devices are shown
  std::vector<baton_dimension> dimensions;
  std::vector<baton_tensor> tensors;          // by entry
  std::vector<std::vector<EntryId>> entries;  // by storage
};

}  // namespace baton
