// When every thread worked on what, in one run.
#include <algorithm>

#include "baton/runtime/executor.h"
#include "baton/runtime/loop_recorder.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/runtime/thread_reading.h"

namespace baton {

namespace {

constexpr size_t kLoopsPerCall = 64;  // of one thread: more are not recorded

}  // namespace

Result<RunTimeline> Executor::run_timeline() {
  const size_t count = calls_.size();
  std::vector<uint64_t> stamps(2 * count + 2, 1);
  LoopRecorder recorder((count + 1) * kLoopsPerCall * static_cast<size_t>(threads()));
  const ThreadScope scope(threads_);
  const bool several = threads() > 1;
  const ThreadReading before = read_thread(several);
  stamps[0] = ticks();
  for (size_t c = 0; c < count; ++c) {
    stamps[2 * c + 1] = ticks();
    if (const int code = calls_[c].function(calls_[c].context, calls_[c].args)) [[unlikely]]
      return node_failed(call_nodes_[c], code);
    stamps[2 * c + 2] = ticks();
  }
  if (Status status = wait(); !status.ok()) return status;
  stamps[2 * count + 1] = ticks();
  RunTimeline run;
  const auto ns = [&](uint64_t stamp) {
    return static_cast<double>(static_cast<int64_t>(stamp - stamps[0])) * ns_per_tick();
  };
  run.held = was_held(before, read_thread(several), several);
  run.total_ns = ns(stamps[2 * count + 1]);
  for (size_t c = 0; c < count; ++c)
    run.calls.push_back({call_nodes_[c], ns(stamps[2 * c + 1]), ns(stamps[2 * c + 2])});
  for (const LoopSpan& span : recorder.spans())
    run.loops.push_back({span.thread, ns(span.begin), ns(span.end), span.iterations});
  std::sort(run.loops.begin(), run.loops.end(), [](const RunTimeline::Loop& a, const RunTimeline::Loop& b) {
    return std::pair(a.thread, a.begin_ns) < std::pair(b.thread, b.begin_ns);
  });
  return run;
}

}  // namespace baton
