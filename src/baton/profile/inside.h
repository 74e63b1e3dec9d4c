#pragma once
// The split of one kernel's time over its operators (design D4): stage markers for what has storage or a loop of its
// own, ablation for operators fused in registers. The shipped kernel is never the one that is changed.
#include <atomic>
#include <functional>
#include <map>
#include <string>

#include "baton/driver/build.h"
#include "baton/profile/inside_split.h"
#include "baton/runtime/executor.h"

namespace baton {

struct InsideOptions {
  double ms_per_kernel = 300;  ///< measuring, all variants together
  CompileOptions compile;
  std::function<void(int done, int total)> progress;  ///< kernels measured
};

/// By func_name, for every kernel of `built` that is called. `executor`: made from `built`, inputs set; its kernels and
/// constants are as before when this returns, intermediate tensors are not. Kernels run on one thread and warm: shares
/// hold for several threads too (/docs/design/0004), absolute times do not.
std::map<std::string, InsideTimes> measure_inside(const BuildResult& built, Executor& executor, const InsideOptions& options);

}  // namespace baton
