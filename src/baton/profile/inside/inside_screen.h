#pragma once
// Screening of measured rounds: arithmetic only, no clock. Rounds in which the clock stepped, or one variant
// was delayed by other load, are discarded.
#include <vector>

#include "baton/profile/inside/inside_split.h"

namespace baton {

/// Removes from `rounds` (none, or all with the same variants)
/// - those whose clock stepped: a negative time, or stages that sum up to more than the kernel's time on its
///   threads;
/// - those during which another program took the CPU;
/// - those in which a variant took much longer or shorter than in others, relative to the round's other
///   variants, so that clock drift is no reason. If that applies to most rounds, all of these are kept.
RoundTally screen_rounds(std::vector<InsideRound>& rounds, int threads = 1);

}  // namespace baton
