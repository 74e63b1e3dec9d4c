#pragma once
// Whether the patterns of a match cover every value.
#include <optional>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

/// The cases that no clause handles, as patterns; empty when the match is complete. Nothing when there are
/// more cases to look at than can be looked at (some ten thousand).
std::optional<std::vector<Pattern>> unmatched_cases(const MatchNode& match, const IRModuleNode& module);

}  // namespace baton
