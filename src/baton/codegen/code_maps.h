#pragma once
// Code maps of many kernels at once.
#include <span>
#include <vector>

#include "baton/codegen/compiler.h"
#include "baton/codegen/debug/code_map.h"

namespace baton {

/// The maps of kernels that were compiled from these requests, in order. The first failure.
Result<std::vector<CodeMap>> code_maps(std::span<const KernelRequest> requests,
                                       std::span<const KernelRef> kernels, const BuildContext& context);

}  // namespace baton
