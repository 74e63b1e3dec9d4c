#pragma once
// Regions that another compiler was given (PartitionGraph), at build time: the backend of that name is asked
// for each, and what it built takes the region's place in the plan.
#include "baton/ir/module.h"
#include "baton/pass/build_context.h"

namespace baton {

/// Composite functions of `main` that no compiler took become their bodies.
IRModule inline_composites(const IRModule& module, const BuildContext& context);

/// `module`: optimized and typed. Calls in `main` of functions with a Compiler become what the backend of
/// that name makes of them (Backend::region): its kernels, which carry `compiler` and `region` (the symbol)
/// as attributes. A region that is called twice is built once. Throws NotSupported when a compiler has no
/// code generator, Error when what it built does not fit the region.
IRModule build_regions(const IRModule& module, const BuildContext& context);

}  // namespace baton
