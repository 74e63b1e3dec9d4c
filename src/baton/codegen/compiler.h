#pragma once
// Many kernels at once: each distinct one is taken from the cache or compiled, in parallel, and all become
// one library.
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "baton/codegen/kernel/kernel.h"
#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/pass/interrupt.h"
#include "baton/runtime/kernel_library.h"
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

/// One kernel per request, in order; requests with the same key share one. The first request that fails
/// decides what is thrown.
std::vector<KernelRef> compile_kernels(std::span<const KernelRequest> requests,
                                       const CompileOptions& options = {});

/// Kernels under the names that a plan calls them by.
using NamedKernels = std::vector<std::pair<std::string, KernelRef>>;

/// A shared library with all of them; the text of its file. Throws Error when there is no linker or it fails.
std::string link_library(const NamedKernels& kernels);

/// The same, loaded: linked if this machine has a linker, else by Halide's JIT (then `requests` says what to
/// compile: one per kernel, in the same order).
std::shared_ptr<const KernelLibrary> load_library(const NamedKernels& kernels,
                                                  std::span<const KernelRequest> requests,
                                                  const CompileOptions& options = {});
std::shared_ptr<const KernelLibrary> jit_library(const NamedKernels& kernels,
                                                 std::span<const KernelRequest> requests,
                                                 const CompileOptions& options = {});

}  // namespace baton
