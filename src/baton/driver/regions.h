#pragma once
// Compiles the regions of external compilers (PartitionGraph): the backend of that name compiles each region,
// and the result replaces the region in the plan.
#include "baton/ir/module.h"
#include "baton/pass/build_context.h"

namespace baton {

/// Inlines composite functions of `main` that no external compiler took.
IRModule inline_composites(const IRModule& module, const BuildContext& context);

/// `module`: optimized and typed. Replaces calls in `main` of functions with a Compiler by the result of the
/// backend of that name (Backend::region): kernels with the attributes `compiler` and `region` (the symbol).
/// A region called twice is compiled once. Throws NotSupported when a compiler has no code generator, Error
/// when its result does not match the region.
IRModule build_regions(const IRModule& module, const BuildContext& context);

}  // namespace baton
