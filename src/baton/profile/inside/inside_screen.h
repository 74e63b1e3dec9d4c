#pragma once
// Screening of measured rounds: arithmetic only, no clock. Rounds in which the clock stepped, or one variant
// was delayed by other load, are discarded.
#include <vector>

#include "baton/profile/inside/inside_split.h"

namespace baton {

/// Removes from `rounds` (none, or all with the same variants) - those whose clock stepped: a negative time,
/// or stages that sum up to more than the kernel had on its threads; - those in which a variant took much
/// longer or shorter than in others, measured against the round's other variants, so
///   that a clock that drifts is no reason. When that is true of most rounds it is how the machine is, and
///   all stay.
RoundTally screen_rounds(std::vector<InsideRound>& rounds, int threads = 1);

}  // namespace baton
