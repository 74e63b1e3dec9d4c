#pragma once
// Compilations side by side.
#include <functional>

#include "baton/pass/build_context.h"

namespace baton {

/// Runs task(0) .. task(count - 1) on several threads; the failure of the lowest index is thrown again. After
/// a failure or an interrupt no further task starts. `may_abandon`: `task` owns all that it uses, so that an
/// interrupt need not wait for the tasks that have started.
void run_parallel(int count, const BuildContext& context, bool may_abandon, std::function<void(int)> task);

}  // namespace baton
