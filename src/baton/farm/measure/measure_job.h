#pragma once
// Measures a program in this process by a protocol.
#include <vector>

#include "baton/clock/sample_clock.h"
#include "baton/farm/job/worker.h"
#include "baton/runtime/executor.h"

namespace baton {

struct MeasuredJob {
  std::vector<JobRow> rows;
  Disturbance disturbed_by;  ///< everything that happened on the machine meanwhile
};

/// `executor`: inputs and threads set. Samples are in microseconds per call; those of short calls are means
/// of loops, and many calls are summed up as medians of equal groups. Throws Error when a kernel fails,
/// the program has none of those that `protocol` asks for, or it asks for kInModel of a whole program, and
/// Interrupted.
MeasuredJob measure_job(Executor& executor, const Protocol& protocol,
                        const SampleConditions& conditions = {});

Wanted wanted_of(const Protocol& protocol);

/// At most some sixty samples instead of many: medians of equal groups of the undisturbed ones, in order,
/// then the disturbed ones. `calls`: of one sample.
JobRow summed_up(const RoundSamples& samples, const Protocol& protocol, int calls);

}  // namespace baton
