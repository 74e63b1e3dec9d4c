#pragma once
// Hooks of external compilers, by name. Set by users (`relay.ext.<compiler>.optimize` in Python).
#include <functional>
#include <memory>
#include <string>

#include "baton/pass/build_context.h"

namespace baton {

/// Rewrites a module whose `main` is one region, under the context of the pass that outlined it.
using OptimizeRegion = std::function<IRModule(const IRModule&, const BuildContext&)>;

/// Registers `optimize` for each region that PartitionGraph outlines for `compiler`. Replaces an earlier one;
/// null removes it.
void set_region_optimizer(const std::string& compiler, OptimizeRegion optimize);
/// The optimizer, or null.
std::shared_ptr<const OptimizeRegion> find_region_optimizer(const std::string& compiler);
bool any_region_optimizer();

}  // namespace baton
