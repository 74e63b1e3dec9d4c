#pragma once
// Runs of a built model as an objective wants them, for MeasuredModel::other.
#include <functional>

#include "baton/driver/build_result.h"
#include "baton/map/objective.h"
#include "baton/profile/measure/fused_times.h"

namespace baton {

/// By kLatency a run is one input with devices and links side by side; by kThroughput a stream, of which it
/// returns the time per input while as many are on the way as there are instances. Inputs have values by the
/// tensor rule, and stay where they are. Each round has an executor of its own, with the threads of `like`,
/// and its code too unless `fresh`; a round for which there is no memory has no run. `built` and `like` must
/// outlive the result.
std::function<TimedRun()> queue_runs(const BuildResult& built, const Executor& like, MapObjective objective,
                                     bool fresh);

/// Microjoules of one run of `executor`, of the whole machine. Throws Error where there is no counter.
std::function<TimedRun()> energy_runs(Executor& executor);

}  // namespace baton
