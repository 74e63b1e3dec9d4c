#pragma once
// Whether the user's rules can be kept together.
#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/map/measure/map_model.h"

namespace baton {

/// Throws UsageError, naming the operator and both rules, for one that is pinned to two backends, pinned and
/// forbidden, or forbidden everywhere; and for a rule of a backend that is not among `backends`.
void check_rules(const std::vector<MapRule>& rules, const std::vector<std::string>& backends,
                 const OriginTable& table);

}  // namespace baton
