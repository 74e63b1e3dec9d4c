#include "baton/runtime/thread_reading.h"

#include <algorithm>

#include <sys/resource.h>

#include "baton/runtime/system/timers.h"

namespace baton {

namespace {

// The clocks are read one after the other; interrupts are part of every interval.
constexpr int64_t kSlackNs = 3000;
constexpr int64_t kSlackShare = 100;  // 1 % of the interval

}  // namespace

ThreadReading read_thread(bool all_threads) {
  ThreadReading reading{monotonic_ns(), thread_cpu_ns()};
  if (all_threads) reading.all_cpu_ns = process_cpu_ns();
  rusage usage;
#ifdef RUSAGE_THREAD
  const int who = all_threads ? RUSAGE_SELF : RUSAGE_THREAD;
#else
  const int who = RUSAGE_SELF;
#endif
  if (getrusage(who, &usage) == 0) reading.preempted = usage.ru_nivcsw;
  return reading;
}

bool was_held(const ThreadReading& before, const ThreadReading& after, bool waits) {
  if (after.preempted != before.preempted) return true;
  const int64_t wall = after.wall_ns - before.wall_ns, cpu = after.cpu_ns - before.cpu_ns;
  return !waits && wall - cpu > kSlackNs + wall / kSlackShare;
}

double computed_ns(const ThreadReading& before, const ThreadReading& after, int threads) {
  const auto wall = static_cast<double>(after.wall_ns - before.wall_ns);
  const auto own = static_cast<double>(after.cpu_ns - before.cpu_ns);
  const auto all = static_cast<double>(after.all_cpu_ns - before.all_cpu_ns);
  return std::min(wall, std::max(own, all / std::max(1, threads)));
}

}  // namespace baton
