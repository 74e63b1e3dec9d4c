#include "baton/runtime/system/timers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "baton/support/base/environment.h"

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

/// Reads both clocks; keeps the reading with the shortest bracket of many, which excludes interrupts.
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

/// Whether `flags` contains `flag` as a whole word.
bool has_flag(const char* flags, const char* flag) {
  const size_t length = std::strlen(flag);
  for (const char* at = flags; (at = std::strstr(at, flag)) != nullptr; at += length) {
    const bool begins = at == flags || std::strchr(" \t:", at[-1]) != nullptr;
    if (begins && (at[length] == '\0' || std::strchr(" \t\n", at[length]) != nullptr)) return true;
  }
  return false;
}

#if defined(__x86_64__)
bool ask_for_counter() {
  if (environment()->clock == "system") return false;
  std::FILE* file = std::fopen("/proc/cpuinfo", "r");
  if (!file) return false;
  char* line = nullptr;
  size_t room = 0;
  bool steady = false;
  while (getline(&line, &room, file) > 0) {
    if (std::strncmp(line, "flags", 5) != 0) continue;
    steady = counter_is_steady(line);
    break;  // all CPUs of a machine are assumed equal
  }
  std::free(line);
  std::fclose(file);
  return steady;
}
#endif

}  // namespace

#if defined(__x86_64__)
const bool use_counter = ask_for_counter();
#endif

bool counter_is_steady(const char* cpu_flags) {
  return has_flag(cpu_flags, "constant_tsc") && has_flag(cpu_flags, "nonstop_tsc");
}

int64_t monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }
int64_t thread_cpu_ns() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
int64_t process_cpu_ns() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

double ns_per_tick() {
  static const double factor = calibrate();
  return factor;
}

double ticks_per_reading() {
  static const double cost = [] {
    constexpr int kReadings = 64, kTries = 64;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < kTries; ++i) {
      const uint64_t began = ticks();
      uint64_t last = began;
      for (int n = 0; n < kReadings; ++n) last = ticks();
      least = std::min(least, last - began);
    }
    return static_cast<double>(least) / kReadings;
  }();
  return cost;
}

}  // namespace baton
