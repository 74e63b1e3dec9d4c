#pragma once
// Times of a model and its kernels as they ship. Plain runs (no timers inside) and profiled runs alternate,
// so that both see the same machine state. Measured in rounds, each by an executor of its own elsewhere in
// memory: what one process finds by chance is part of the uncertainty.
#include <span>
#include <vector>

#include "baton/profile/measure/fused_times.h"

namespace baton {

/// Throws Error when a kernel fails, or when no run can be timed because the machine's clocks disagree;
/// Interrupted when nothing was measured yet.
FusedTimes measure_fused(Executor& executor, const MeasureOptions& options);

/// Measures several models in alternating turns, so that their times are comparable although the machine's
/// speed drifts; `min_seconds` applies to each.
std::vector<FusedTimes> measure_in_turns(std::span<const MeasuredModel> models,
                                         const MeasureOptions& options);

}  // namespace baton
