#pragma once
// Times of a model and its kernels as they ship. Plain runs (no timers inside) and profiled runs alternate,
// so that both see the same machine state.
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "baton/profile/measure/clock_watch.h"
#include "baton/runtime/executor.h"

namespace baton {

struct MeasureOptions {
  int min_runs = 30;         ///< of each kind, without those disturbed by other programs
  double min_seconds = 3.0;  ///< of both kinds together, or 1000 runs of each; limited to 10x min_seconds
  const std::atomic<bool>* interrupt = nullptr;
  Clocks clocks = Clocks::of_this_machine();
  bool waited = false;  ///< the caller already waited for a quiet machine: notes need not advise it
};

/// The median; mean of the two middle values for even counts, 0 for none.
double median(std::vector<double> values);
/// Standard deviation over mean; 0 for fewer than two values.
double coefficient_of_variation(const std::vector<double>& values);

struct FusedTimes {
  std::vector<double> plain_us;              ///< per plain run: the whole model, profiling off
  std::vector<double> profiled_us;           ///< per profiled run: the whole model
  std::vector<uint32_t> nodes;               ///< the called plan nodes, in order
  std::vector<std::vector<double>> node_us;  ///< [call][run], from kernel entry to kernel return
  double load_before = 0;                    ///< the system's one-minute load average at the start
  double ns_per_node = 0;          ///< timing overhead: (median profiled - median plain) / calls, >= 0
  double others_busy = 0;          ///< average number of CPUs used by other programs meanwhile
  std::vector<std::string> notes;  ///< caveats for the reader
};

/// `executor`: inputs and threads set. Throws Error when a kernel fails, or when no run can be timed because
/// the machine's clocks disagree; Interrupted on cancellation.
FusedTimes measure_fused(Executor& executor, const MeasureOptions& options);

/// Measures several models in alternating turns of a fifth of a second, so that their times are comparable
/// although the machine's speed drifts; `min_seconds` applies to each.
std::vector<FusedTimes> measure_in_turns(std::span<Executor* const> executors, const MeasureOptions& options);

}  // namespace baton
