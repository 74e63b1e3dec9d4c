#pragma once
// Splits a kernel's time over its operators (design D4): stage markers for stages with storage or a loop of
// their own, ablation for operators fused in registers. The shipped kernel is never modified.
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "baton/driver/build_result.h"
#include "baton/profile/inside/inside_options.h"
#include "baton/profile/inside/inside_split.h"
#include "baton/runtime/executor.h"

namespace baton {

/// The split of every called kernel of `built`, by func_name. `executor`: made from `built`, inputs set;
/// afterwards its kernels and constants are restored, intermediate tensors are not. Kernels run with warm
/// caches, so shares are valid but absolute times are not (/docs/design/0004). Kernels for which the budget
/// leaves no time are missing. Throws Error when a kernel fails or the clock steps in every round,
/// Interrupted on cancellation before the first kernel.
std::map<std::string, InsideTimes> measure_inside(const BuildResult& built, Executor& executor,
                                                  const InsideOptions& options);

}  // namespace baton
