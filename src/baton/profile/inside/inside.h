#pragma once
// Splits a kernel's time over its operators (design D4): stage markers for stages with storage or a loop of
// their own, ablation for operators fused in registers. The shipped kernel is never modified.
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "baton/driver/build_result.h"
#include "baton/profile/inside/inside_split.h"
#include "baton/profile/measure/measure.h"
#include "baton/runtime/executor.h"

namespace baton {

struct InsideOptions {
  /// `context`: that of the build, for variants of kernels.
  explicit InsideOptions(BuildContext context) : compile(std::move(context)) {}

  /// Measuring time for all variants of a kernel in all rounds together; ends earlier once the shares are
  /// precise.
  double ms_per_kernel = 300;
  int rounds = 4;                              ///< each in the memory of an executor of its own
  AnotherExecutor another = {};                ///< makes these; null: the same memory in all rounds
  Budget* budget = nullptr;                    ///< for all kernels; compiling does not count. Null: no limit
  std::map<std::string, double> weights = {};  ///< by func_name: its part of the budget
  SystemSource system = read_system;
  /// If > 1, every kernel is also measured on that many threads: fills InsideTimes::loads, and shares are of
  /// all threads' time.
  int threads = 1;
  bool sampling =
      true;  ///< use sampling where stage sums are off under marks, or stages are too short for them
  BuildContext compile;
  std::function<void(int done, int total)> progress;  ///< counts measured kernels
  std::function<uint64_t()> clock;                    ///< for tests: replaces fenced_ticks(), in its unit
};

/// The split of every called kernel of `built`, by func_name. `executor`: made from `built`, inputs set;
/// afterwards its kernels and constants are restored, intermediate tensors are not. Kernels run with warm
/// caches, so shares are valid but absolute times are not (/docs/design/0004). Kernels for which the budget
/// leaves no time are missing. Throws Error when a kernel fails or the clock steps in every round,
/// Interrupted on cancellation before the first kernel.
std::map<std::string, InsideTimes> measure_inside(const BuildResult& built, Executor& executor,
                                                  const InsideOptions& options);

}  // namespace baton
