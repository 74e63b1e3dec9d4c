#pragma once
// Code maps of kernels, made by a separate compilation and cached.
#include <span>
#include <vector>

#include "baton/codegen/debug/code_map.h"
#include "baton/codegen/kernel/code_shape.h"
#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/pass/build_context.h"

namespace baton {

/// The code map of `kernel`, compiled from `request`. Cached in `cache` (null: KernelCache::shared()); making
/// it takes about as long as compiling. kUnavailable without `as`, or when its output differs from Halide's.
Result<CodeMap> code_map(const KernelRequest& request, const Kernel& kernel, const DeviceSheet& sheet,
                         KernelCache* cache = nullptr);

/// The code map, always recomputed, and optionally the listing it is made from.
Result<CodeMap> listed_as_shipped(const KernelRequest& request, const Kernel& kernel,
                                  const DeviceSheet& sheet, KernelListing* listing);

/// The code maps of the kernels for these requests, in order, or the first failure.
Result<std::vector<CodeMap>> code_maps(std::span<const KernelRequest> requests,
                                       std::span<const KernelRef> kernels, const BuildContext& context);

}  // namespace baton
