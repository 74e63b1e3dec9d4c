#pragma once
// Compiles the regions of external compilers (PartitionGraph): the backend of that name compiles each region,
// and the result replaces the region in the plan.
#include "baton/ir/module.h"
#include "baton/pass/build_context.h"

namespace baton {

/// Inlines composite functions that no external compiler took.
IRModule inline_composites(const IRModule& module, const BuildContext& context);

/// `module`: optimized and typed. Replaces calls of functions with a Compiler by the result of the backend of
/// that name (Backend::region): kernels with the attributes `compiler` and `region` (the symbol). A region
/// called twice is compiled once. One with symbolic extents becomes kernels of what is around it, with a
/// warning. Throws NotSupported when a compiler has no code generator, and under baton.strict_regions for
/// symbolic extents; Error when its result does not match the region.
IRModule build_regions(const IRModule& module, const BuildContext& context);

}  // namespace baton
