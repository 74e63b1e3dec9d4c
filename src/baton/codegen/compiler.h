#pragma once
// Many kernels at once: each distinct one is taken from the cache or compiled, in parallel, and all become
// one library.
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "baton/codegen/compile_options.h"
#include "baton/codegen/kernel/kernel.h"
#include "baton/runtime/kernel_library.h"

namespace baton {

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
