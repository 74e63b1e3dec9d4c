#pragma once
// What other compilers bring along, by name. Filled by users (`relay.ext.<compiler>.optimize` in Python).
#include <functional>
#include <memory>
#include <string>

#include "baton/pass/build_context.h"

namespace baton {

/// Rewrites a module whose `main` is one region, under the context of the pass that cut it out.
using OptimizeRegion = std::function<IRModule(const IRModule&, const BuildContext&)>;

/// `optimize` is applied to each region that PartitionGraph cuts out for `compiler`. Replaces what was
/// registered; null removes it.
void set_region_optimizer(const std::string& compiler, OptimizeRegion optimize);
/// Null when there is none.
std::shared_ptr<const OptimizeRegion> find_region_optimizer(const std::string& compiler);
bool any_region_optimizer();

}  // namespace baton
