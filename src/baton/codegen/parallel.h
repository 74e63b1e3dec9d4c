#pragma once
// Parallel compilation.
#include <functional>

#include "baton/pass/build_context.h"

namespace baton {

/// Runs task(0) .. task(count - 1) on several threads; rethrows the failure of the lowest index. After a
/// failure or an interrupt no further task starts. `may_abandon`: `task` owns everything it uses, so that an
/// interrupt need not wait for started tasks.
void run_parallel(int count, const BuildContext& context, bool may_abandon, std::function<void(int)> task);

}  // namespace baton
