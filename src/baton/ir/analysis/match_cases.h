#pragma once
// Exhaustiveness of the patterns of a match.
#include <optional>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

/// The uncovered cases as patterns; empty when the match is exhaustive. Nullopt when the limit on cases (some
/// ten thousand) is exceeded.
std::optional<std::vector<Pattern>> unmatched_cases(const MatchNode& match, const IRModuleNode& module);

}  // namespace baton
