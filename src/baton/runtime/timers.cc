#include "baton/runtime/timers.h"

#include <ctime>

namespace baton {
namespace {

constexpr int64_t kCalibrationNs = 5'000'000;

int64_t read_clock(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

struct Instant {
  double tick;
  double ns;
};

/// Both clocks at once: the reading with the shortest bracket of many, so that an interrupt in between does
/// no harm.
Instant read_both() {
  Instant best{};
  uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < 32; ++i) {
    const uint64_t before = fenced_ticks();
    const int64_t ns = monotonic_ns();
    const uint64_t after = fenced_ticks();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {static_cast<double>(before) + static_cast<double>(shortest) / 2, static_cast<double>(ns)};
  }
  return best;
}

double calibrate() {
  const Instant start = read_both();
  while (static_cast<double>(monotonic_ns()) - start.ns < kCalibrationNs) {
  }
  const Instant end = read_both();
  return (end.ns - start.ns) / (end.tick - start.tick);
}

}  // namespace

int64_t monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }
int64_t thread_cpu_ns() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
int64_t process_cpu_ns() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

double ns_per_tick() {
  static const double factor = calibrate();
  return factor;
}

}  // namespace baton
