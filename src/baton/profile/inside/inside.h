#pragma once
// The split of one kernel's time over its operators (design D4): stage markers for what has storage or a loop
// of its own, ablation for operators fused in registers. The shipped kernel is never the one that is changed.
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "baton/driver/build_result.h"
#include "baton/profile/inside/inside_split.h"
#include "baton/runtime/executor.h"

namespace baton {

struct InsideOptions {
  /// `context`: that of the build, for variants of kernels.
  explicit InsideOptions(BuildContext context) : compile(std::move(context)) {}

  double ms_per_kernel =
      300;  ///< measuring, all variants together; less when the shares are known well before
  /// With more than one, every kernel is also measured on so many: InsideTimes::loads, and shares are of all
  /// of them.
  int threads = 1;
  bool sampling =
      true;  ///< falls back to sampling where stages do not sum up under marks, or are too short for them
  BuildContext compile;
  std::function<void(int done, int total)> progress;  ///< kernels measured
  std::function<uint64_t()> clock;  ///< for tests: read instead of fenced_ticks(), in its unit
};

/// By func_name, for every kernel of `built` that is called. `executor`: made from `built`, inputs set; its
/// kernels and constants are as before when this returns, intermediate tensors are not. Kernels run warm, so
/// shares hold and absolute times do not (/docs/design/0004). Throws Error when a kernel fails or the clock
/// steps in every round, Interrupted when asked to stop.
std::map<std::string, InsideTimes> measure_inside(const BuildResult& built, Executor& executor,
                                                  const InsideOptions& options);

}  // namespace baton
