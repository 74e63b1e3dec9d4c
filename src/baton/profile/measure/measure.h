#pragma once
// Time of a model and of its kernels as they ship. Plain runs (no clock inside) and profiled runs take turns,
// so that both see the same machine.
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
  int min_runs = 30;  ///< of each kind, those aside in which another program had the processor
  double min_seconds =
      3.0;  ///< of both kinds together, or 1000 runs of each; ends at 10x min_seconds in any case
  const std::atomic<bool>* interrupt = nullptr;
  Clocks clocks = Clocks::of_this_machine();
  bool waited = false;  ///< for a quiet machine: a note about unsteady times need not advise it
};

/// Middle of the sorted values (mean of the two middle ones); 0 for none.
double median(std::vector<double> values);
/// Standard deviation over mean; 0 for fewer than two values.
double coefficient_of_variation(const std::vector<double>& values);

struct FusedTimes {
  std::vector<double> plain_us;              ///< per plain run: the whole model, profiling off
  std::vector<double> profiled_us;           ///< per profiled run: the whole model
  std::vector<uint32_t> nodes;               ///< the plan's nodes that were called, in order
  std::vector<std::vector<double>> node_us;  ///< [call][run], from kernel entry to kernel return
  double load_before = 0;                    ///< the system's one-minute load average when measuring began
  double ns_per_node = 0;  ///< what reading the clock adds: (median profiled - median plain) / calls, >= 0
  double others_busy = 0;  ///< processors that other programs kept busy meanwhile, on average
  std::vector<std::string> notes;  ///< what a reader must know of these times
};

/// `executor`: inputs set, threads set. Throws Error when a kernel fails or no run can be timed because the
/// clocks of this machine disagree, Interrupted when asked to stop.
FusedTimes measure_fused(Executor& executor, const MeasureOptions& options);

/// Several models, in turns of a fifth of a second, so that their times can be compared although the
/// machine's speed drifts; `min_seconds` are for each.
std::vector<FusedTimes> measure_in_turns(std::span<Executor* const> executors, const MeasureOptions& options);

}  // namespace baton
