#pragma once
// Parallel compilation.
#include <functional>
#include <vector>

#include "baton/pass/build_context.h"

namespace baton {

/// How many threads a build has.
int thread_count(const BuildContext& context);

/// Runs task(0) .. task(count - 1) on several threads; rethrows the failure of the lowest index. After a
/// failure or an interrupt no further task starts. `may_abandon`: `task` owns everything it uses, so that an
/// interrupt need not wait for started tasks. Progress counts kernels: `sizes` per task (1 if empty), and
/// `before` that are there already.
void run_parallel(int count, const BuildContext& context, bool may_abandon, std::function<void(int)> task,
                  std::vector<int> sizes = {}, int before = 0);

}  // namespace baton
