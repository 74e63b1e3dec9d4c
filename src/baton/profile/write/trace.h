#pragma once
// Exports a report as a trace for Perfetto (ui.perfetto.dev) and chrome://tracing.
#include <string>

#include "baton/profile/report/rows.h"

namespace baton {

/// The JSON object form of the trace event format, complete events ("X") only, nested as model > kernel >
/// operator:
/// - track "one run, from medians": kernels in execution order, the parts of each below it;
/// - track "one run, from medians: modules", where operators have modules: those of the same run, within each
///   other;
/// - track "one run without fusion", when that was measured;
/// - track "measured runs": the first `runs` measured runs, kernels without parts;
/// - tracks "one measured run: thread N", for runs on several threads: an undisturbed run as it was, the
///   kernels on the track of the calling thread, and on every track the parallel loops (category "loop").
/// But in the last, kernels are placed back to back, since only durations are measured; the time between
/// them is one event at the end, which is in no module. Events have args to select by: operators, lines,
/// types, flops, bytes, share, method. Times are whole nanoseconds (written as microseconds): a child lies
/// within its parent, siblings do not overlap, and the kernels and the time between them add up to the model.
std::string trace_json(const ProfileReport& report, int runs = 0);

}  // namespace baton
