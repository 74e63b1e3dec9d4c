#pragma once
// Code maps of kernels: made with a compilation of their own, and kept.
#include <span>
#include <vector>

#include "baton/codegen/debug/code_map.h"
#include "baton/codegen/kernel/code_shape.h"
#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/pass/build_context.h"

namespace baton {

/// The map of `kernel`, which was compiled from `request`. Kept in `cache` (null: KernelCache::shared());
/// making it takes about as long as compiling. kUnavailable where there is no `as`, or one that makes other
/// code than Halide.
Result<CodeMap> code_map(const KernelRequest& request, const Kernel& kernel, const DeviceSheet& sheet,
                         KernelCache* cache = nullptr);

/// Made anew, and the listing it is made from, unless that is null.
Result<CodeMap> listed_as_shipped(const KernelRequest& request, const Kernel& kernel,
                                  const DeviceSheet& sheet, KernelListing* listing);

/// The maps of kernels that were compiled from these requests, in order. The first failure.
Result<std::vector<CodeMap>> code_maps(std::span<const KernelRequest> requests,
                                       std::span<const KernelRef> kernels, const BuildContext& context);

}  // namespace baton
