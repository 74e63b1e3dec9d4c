#pragma once
// Combines the splits of one kernel in several rounds: arithmetic only.
#include <string>
#include <vector>

#include "baton/profile/inside/inside_split.h"

namespace baton {

/// The split of a kernel from several rounds, >= 1: medians of the shares with their 95 % intervals.
/// Disturbed rounds are left out; when fewer than half are left, all count, and the split is under load
/// because of `why`.
/// - Stages that are not found in every round are merged with the next one.
/// - Ablation below its noise in the median of all rounds, or less than its interval, counts as nothing; its
/// time
///   stays with the stage.
InsideTimes combined(const std::vector<InsideTimes>& rounds, const std::vector<bool>& disturbed,
                     const std::string& why);

}  // namespace baton
