#pragma once
// Times of a model and its kernels as they ship. Plain runs (no timers inside) and profiled runs alternate,
// so that both see the same machine state. Measured in rounds, each by an executor of its own elsewhere in
// memory: what one process finds by chance is part of the uncertainty.
#include <memory>
#include <span>
#include <vector>

#include "baton/profile/measure/fused_times.h"

namespace baton {

/// Throws Error when a kernel fails, or when no run can be timed because the machine's clocks disagree;
/// Interrupted when nothing was measured yet.
FusedTimes measure_fused(Executor& executor, const MeasureOptions& options);

/// Measures several models in alternating turns, so that their times are comparable although the machine's
/// speed drifts; `min_seconds` applies to each. In parts, with other work in between: the farther rounds lie
/// apart, the more of what another process would find they see.
class ModelMeasurement {
 public:
  ModelMeasurement(std::span<const MeasuredModel> models, const MeasureOptions& options);
  ~ModelMeasurement();

  /// At most `count` rounds more: fewer when the time is over, or enough is known. Throws as measure_fused().
  void rounds(int count);
  /// What rounds still to come will take.
  double seconds_for_rest() const;
  std::vector<FusedTimes> so_far() const;
  /// All rounds that are left, and their result.
  std::vector<FusedTimes> result();

 private:
  class Turns;
  std::unique_ptr<Turns> turns_;
};

/// All rounds of such a measurement.
std::vector<FusedTimes> measure_in_turns(std::span<const MeasuredModel> models,
                                         const MeasureOptions& options);

}  // namespace baton
