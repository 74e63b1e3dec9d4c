#pragma once
// A report as a trace for Perfetto (ui.perfetto.dev) and chrome://tracing.
#include <string>

#include "baton/profile/report/rows.h"

namespace baton {

/// The JSON object form of the trace event format, complete events ("X") only, nested as model > kernel >
/// operator:
/// - track "one run, from medians": kernels in the order of execution, the parts of each below it;
/// - track "one run without fusion", when that was measured;
/// - track "measured runs": the first `runs` runs as they were measured, kernels without parts.
/// Kernels stand back to back: the clock says how long each took, not when it began; what lies between them
/// is one event at the end. Events hold in args what a reader wants to select by: operators, lines, types,
/// flops, bytes, share, method. Times are whole nanoseconds (written as microseconds): a child never leaves
/// its parent, siblings never overlap, and the kernels and what lies between them add up to the model.
std::string trace_json(const ProfileReport& report, int runs = 0);

}  // namespace baton
