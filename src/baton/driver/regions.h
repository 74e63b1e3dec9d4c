#pragma once
// Regions that another compiler was given (PartitionGraph), at build time: its code generator is asked for
// each, and what it built takes the region's place in the plan. Filled by users (`relay.ext.<compiler>` in
// Python).
#include <functional>
#include <memory>
#include <string>

#include "baton/ir/module.h"

namespace baton {

struct BuildResult;

/// Builds one region. The function has its global_symbol, and no Compiler attribute any more.
using RegionCodegen = std::function<std::shared_ptr<const BuildResult>(const Function& region)>;

/// `codegen` builds the regions of `compiler`. Replaces what was registered; null removes it.
void set_region_codegen(const std::string& compiler, RegionCodegen codegen);

/// Composite functions of `main` that no compiler took become their bodies.
IRModule inline_composites(const IRModule& module);

/// `module`: optimized and typed. Calls in `main` of functions with a Compiler become what their code
/// generator built: its kernels, which carry `compiler` and `region` (the symbol) as attributes. A region
/// that is called twice is built once. Throws NotSupported when a compiler has no code generator, Error when
/// what it built does not fit the region.
IRModule build_regions(const IRModule& module);

}  // namespace baton
