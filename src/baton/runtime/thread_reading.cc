#include "baton/runtime/thread_reading.h"

#include <sys/resource.h>

#include "baton/runtime/timers.h"

namespace baton {

namespace {

// The clocks are read one after the other; interrupts are part of every interval.
constexpr int64_t kSlackNs = 3000;
constexpr int64_t kSlackShare = 100;  // 1 % of the interval

}  // namespace

ThreadReading read_thread(bool all_threads) {
  ThreadReading reading{monotonic_ns(), thread_cpu_ns(), 0};
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

}  // namespace baton
