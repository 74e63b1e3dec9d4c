#pragma once
// Many kernels at once: each distinct one is taken from the cache or compiled, in parallel, and all become
// one library.
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "baton/codegen/kernel/kernel.h"
#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/pass/build_context.h"
#include "baton/pass/interrupt.h"
#include "baton/runtime/kernel_library.h"

namespace baton {

/// One kernel per request, in order; requests with the same key share one. The first request that fails
/// decides what is thrown. The context's progress ("kernels") is called from the calling thread or a worker,
/// one at a time. When its interrupt comes, Interrupted is thrown at once: kernels that are being compiled
/// then are finished in the background, for the cache, and the process waits for them before it ends.
std::vector<KernelRef> compile_kernels(std::span<const KernelRequest> requests, const DeviceSheet& sheet,
                                       const BuildContext& context);
/// For the host.
std::vector<KernelRef> compile_kernels(std::span<const KernelRequest> requests, const BuildContext& context);

/// Kernels under the names that a plan calls them by.
using NamedKernels = std::vector<std::pair<std::string, KernelRef>>;

/// A shared library with all of them; the text of its file. Throws Error when there is no linker or it fails.
std::string link_library(const NamedKernels& kernels);

/// The same for the host, loaded: linked if there is a linker, else by Halide's JIT (then `requests` says
/// what to compile: one per kernel, in the same order).
std::shared_ptr<const KernelLibrary> load_library(const NamedKernels& kernels,
                                                  std::span<const KernelRequest> requests,
                                                  const BuildContext& context);
std::shared_ptr<const KernelLibrary> jit_library(const NamedKernels& kernels,
                                                 std::span<const KernelRequest> requests,
                                                 const DeviceSheet& sheet, const BuildContext& context);

}  // namespace baton
