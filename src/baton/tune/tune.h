#pragma once
// Tuning: the schedules that the templates offer for the kernels of a model, measured in the model's own
// memory; what is faster than the default is kept (codegen/tuned_choice.h), for every model with the same
// fused function.
#include <functional>
#include <string>
#include <vector>

#include "baton/clock/disturbance.h"
#include "baton/codegen/tuned_choice.h"
#include "baton/driver/build_result.h"
#include "baton/runtime/executor.h"

namespace baton {

struct TuneOptions {
  explicit TuneOptions(BuildContext build) : context(std::move(build)) {}

  BuildContext context;  ///< that of the build: its cache, its interrupt
  double seconds = 60;   ///< for all kernels, compiling included
  /// What is faster on one thread must not be slower on this many; 1: not asked.
  int threads = 1;
  SystemSource system = read_system;  ///< tells whether other programs ran meanwhile
  std::function<void(const std::string& kernel, double done)> progress = {};  ///< fraction of the time
};

/// A kernel that was looked at.
struct TunedKernel {
  Function function;
  std::string func_name;
  KernelSchedule before;  ///< the default, with its parameters
  TunedSchedule after;    ///< what is kept now
  double model_us = 0;    ///< its part of the model, all calls together
  int newly_tried = 0;
  std::string disturbed;  ///< why a faster schedule could not be confirmed: the next call tries it again
};

/// Longest kernels first; those that were tuned before go on where that ended. On interrupt, what is known so
/// far is kept and returned. Throws Error when a kernel fails. `executor` has inputs set; its intermediate
/// values are lost.
std::vector<TunedKernel> tune(const BuildResult& built, Executor& executor, const TuneOptions& options);

}  // namespace baton
