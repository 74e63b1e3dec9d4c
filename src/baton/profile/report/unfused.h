#pragma once
// The time of every operator by itself: the model as it was built, but each operator in a kernel of its own.
#include <memory>

#include "baton/driver/build.h"
#include "baton/profile/measure/measure.h"
#include "baton/profile/report/rows.h"

namespace baton {

/// `optimized`, as BuildResult has it, with every call of an operator in a primitive function of its own:
/// what was fused is taken apart, and nothing else changes, so layouts and constants are the same. Kernels of
/// regions that another compiler built stay as they are.
IRModule take_apart(const IRModule& optimized, const BuildContext& context);

/// The unfused build of a model and its executor.
struct UnfusedModel {
  BuildResult built;
  std::unique_ptr<Executor> executor;
};

/// Takes `built` apart and compiles it: `how` says by which cache, with which progress and interrupt.
/// `fused`: the executor of `built`, whose inputs and threads the new one gets.
UnfusedModel build_unfused(const BuildResult& built, const Executor& fused, const BuildOptions& how);

/// Sets `unfused` of the report and `unfused_us` of its operators: the time of the kernels that carry an
/// operator. One that carries several counts for each in equal portions.
void add_unfused(ProfileReport& report, const UnfusedModel& model, const FusedTimes& times);

}  // namespace baton
