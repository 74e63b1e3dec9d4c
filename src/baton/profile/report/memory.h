#pragma once
// The memory of a model: constants, inputs, and what its kernels' results occupy while it runs.
#include "baton/profile/report/rows.h"
#include "baton/runtime/executor.h"

namespace baton {

/// Fills in ProfileReport::memory, and of every kernel the bytes of its results and those that results occupy
/// while it runs.
void add_memory(ProfileReport& report, const Executor& executor);

}  // namespace baton
