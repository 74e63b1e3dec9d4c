// The memory of one executor; shared by the files that implement it.
#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include "baton/runtime/device.h"
#include "baton/runtime/plan.h"

namespace baton {

/// Reference counted: returned outputs keep it alive.
struct ExecutorMemory {
  ~ExecutorMemory() { std::free(arena); }

  void* arena = nullptr;            // CPU memory
  std::vector<void*> data;          // by storage: on the CPU
  std::vector<std::shared_ptr<const DeviceBlock>> blocks;  // by storage: on other devices
  std::vector<NDArray>
      held;  // by storage: the array of an input or a constant; undefined for storage in the arena
  std::vector<NDArray> own;      // by storage: the copy made by set_input
  std::vector<NDArray> brought;  // by entry: host copies of tensors on other devices
  std::vector<baton_dimension> dimensions;
  std::vector<baton_tensor> tensors;          // by entry
  std::vector<std::vector<EntryId>> entries;  // by storage
};

}  // namespace baton
