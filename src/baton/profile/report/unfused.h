#pragma once
// Measures every operator by itself: the built model with each operator in its own kernel.
#include <memory>

#include "baton/driver/build.h"
#include "baton/profile/measure/measure.h"
#include "baton/profile/report/rows.h"

namespace baton {

/// `optimized`, as in BuildResult, with each operator call in its own primitive function. Only fusion is
/// undone, so layouts and constants are the same. Kernels of external compilers' regions are kept.
IRModule take_apart(const IRModule& optimized, const BuildContext& context);

/// The unfused build of a model and its executor.
struct UnfusedModel {
  BuildResult built;
  std::unique_ptr<Executor> executor;
};

/// Unfuses and compiles `built`; `how` gives cache, progress and interrupt. `fused`: the executor of `built`,
/// whose inputs and threads are copied to the new one.
UnfusedModel build_unfused(const BuildResult& built, const Executor& fused, const BuildOptions& how);

/// Sets `unfused` of the report and `unfused_us` of its operators: the time of the kernels that carry an
/// operator. A kernel with several operators counts for each in equal portions.
void add_unfused(ProfileReport& report, const UnfusedModel& model, const FusedTimes& times);

}  // namespace baton
