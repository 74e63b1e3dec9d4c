#pragma once
// What measuring a model is told, and what it returns.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "baton/clock/clock_watch.h"
#include "baton/clock/core_pace.h"
#include "baton/clock/disturbance.h"
#include "baton/clock/estimate.h"
#include "baton/clock/program_clock.h"
#include "baton/profile/measure/budget.h"
#include "baton/profile/measure/exchange.h"
#include "baton/runtime/executor.h"

namespace baton {

struct MeasureOptions {
  int min_runs = 16;         ///< of each kind, without disturbed ones
  double min_seconds = 2.0;  ///< of both kinds together, or 1000 runs of each; limited to 10x min_seconds
  int rounds = 8;
  double max_seconds = 1e9;  ///< for all models together; one run of each kind is always made
  int least_rounds = 1;  ///< are made even when that time is over, and if > 1 some more until so many count
  const std::atomic<bool>* interrupt = nullptr;  ///< ends the measurement; what was measured is returned
  Clocks clocks = Clocks::of_this_machine();
  SystemSource system = read_system;
  std::function<CoreLook()> core_is_slow = look_at_core;  ///< asked before and after each run
  bool waited = false;  ///< the caller already waited for a quiet machine: notes need not advise it
  std::function<std::optional<double>(int threads)> exchange = exchange_ns;
  std::function<void(double done)> progress = {};  ///< fraction
};

struct FusedTimes {
  std::vector<double> plain_us = {};     ///< per undisturbed plain run: the whole model, profiling off
  std::vector<double> profiled_us = {};  ///< per undisturbed profiled run: the whole model
  std::vector<uint32_t> nodes = {};      ///< the called plan nodes, in order
  std::vector<std::vector<double>> node_us = {};  ///< [call]: from kernel entry to return, undisturbed calls
  double load_before = 0;                         ///< the system's one-minute load average at the start
  double ns_per_node = 0;                ///< timing overhead: (median profiled - median plain) / calls, >= 0
  double others_busy = 0;                ///< average number of CPUs used by other programs meanwhile
  std::vector<double> exchange_ns = {};  ///< of each round: how far apart the processors were; empty with one
  std::vector<std::string> notes = {};   ///< caveats for the reader
  /// The same with uncertainty. Empty where samples come from elsewhere.
  Estimate plain = {}, profiled = {}, between = {};  ///< between: kernels, in profiled runs
  std::vector<int> calls_per_sample = {};  ///< [call]: > 1: too short for the clock, called in loops
  std::vector<Estimate> node_times = {};   ///< [call]
  Estimate other = {};                     ///< of MeasuredModel::other
  bool interrupted = false;                ///< ended early, by the user
};

/// Makes another executor of the same model, elsewhere in memory.
using AnotherExecutor = std::function<std::shared_ptr<Executor>()>;

/// Runs the model in a way of its own, and returns the microseconds of what counts of it.
using TimedRun = std::function<double()>;

struct MeasuredModel {
  Executor* executor = nullptr;  ///< for the first round: inputs and threads set
  AnotherExecutor another = {};  ///< for the others; null: the same
  /// Another way to run it, beside the usual ones: called for each round, and what it returns once for each
  /// pair of runs. Null: there is none.
  std::function<TimedRun()> other = {};
  /// In place of executors: makes the clock of a program that is no plan, for each round.
  std::function<std::unique_ptr<ProgramClock>(SampleClock&)> program = {};
};

}  // namespace baton
