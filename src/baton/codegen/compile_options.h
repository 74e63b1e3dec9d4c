#pragma once
// How kernels are compiled, whichever they are.
#include <atomic>
#include <functional>

#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/pass/interrupt.h"
#include "baton/target/device_sheet.h"

namespace baton {

struct CompileOptions {
  const DeviceSheet* sheet = nullptr;  ///< null: DeviceSheet::host()
  KernelCache* cache = nullptr;        ///< null: KernelCache::shared()
  int threads = 0;                     ///< 0: one per processor
  std::function<void(int done, int total)>
      progress;  ///< called from the calling thread's or a worker's, one at a time
  /// When it becomes true, Interrupted is thrown at once: kernels that are being compiled then are finished
  /// in the background, for the cache, and the process waits for them before it ends.
  const std::atomic<bool>* interrupt = nullptr;
};

/// The device that kernels are for.
inline const DeviceSheet& sheet_of(const CompileOptions& options) {
  return options.sheet ? *options.sheet : DeviceSheet::host();
}

}  // namespace baton
