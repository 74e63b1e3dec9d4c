#pragma once
// Splits the kernels of libraries' regions: their plug-ins measure each primitive (design note 0033).
#include <map>
#include <string>

#include "baton/driver/build_result.h"
#include "baton/profile/inside/inside_options.h"
#include "baton/profile/inside/inside_split.h"
#include "baton/runtime/executor.h"

namespace baton {

/// The parts of every kernel whose plug-in can tell them, by func_name: primitives and changes of layout in
/// the order in which they run, then what is between them. On the threads of `executor`, whose inputs are
/// set. Shares are of a plain call right before; their sum tells what the clocks cost. Kernels for which the
/// budget leaves no time are missing. Throws Error when a kernel fails.
std::map<std::string, InsideTimes> measure_parts(const BuildResult& built, Executor& executor,
                                                 const InsideOptions& options);

}  // namespace baton
