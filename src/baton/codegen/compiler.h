#pragma once
// Compiles many kernels in parallel: each distinct one is loaded from the cache or compiled, and all are
// linked into one library.
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "baton/codegen/kernel/kernel.h"
#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/pass/build_context.h"
#include "baton/runtime/kernel_library.h"
#include "baton/support/interrupt.h"

namespace baton {

/// One kernel per request, in order; requests with the same key share one. Throws the error of the first
/// failing request. The context's progress ("kernels") is called from the calling thread or a worker, one at
/// a time. On interrupt, Interrupted is thrown at once: compilations in progress finish in the background,
/// for the cache, and the process waits for them at exit.
std::vector<KernelRef> compile_kernels(std::span<const KernelRequest> requests, const DeviceSheet& sheet,
                                       const BuildContext& context);
/// The same for the host.
std::vector<KernelRef> compile_kernels(std::span<const KernelRequest> requests, const BuildContext& context);

/// Kernels under the names used by the plan.
using NamedKernels = std::vector<std::pair<std::string, KernelRef>>;

/// Links all kernels into a shared library and returns the contents of its file. `code_target`: what they
/// were compiled for; empty: this machine. Throws Error when there is no linker for it, or it fails.
std::string link_library(const NamedKernels& kernels, const std::string& code_target = {});

/// The same for the host, loaded: linked if there is a linker, else compiled from `requests` (one per kernel,
/// in the same order) by Halide's JIT.
std::shared_ptr<const KernelLibrary> load_library(const NamedKernels& kernels,
                                                  std::span<const KernelRequest> requests,
                                                  const BuildContext& context);
std::shared_ptr<const KernelLibrary> jit_library(const NamedKernels& kernels,
                                                 std::span<const KernelRequest> requests,
                                                 const DeviceSheet& sheet, const BuildContext& context);

}  // namespace baton
