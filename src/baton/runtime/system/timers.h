// Clocks. Kernel times use the time stamp counter: 10 ns per reading, against 30 and more for the system
// clock.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace baton {

/// What is shorter is measured in loops: a reading of the clock takes 10 ns, and on some processors (AMD's
/// Zen 5) the counter steps by as much.
inline constexpr double kLeastTimedUs = 2;

/// CLOCK_MONOTONIC.
int64_t monotonic_ns();
inline double seconds_since(int64_t begin_ns) { return static_cast<double>(monotonic_ns() - begin_ns) / 1e9; }

/// CPU time of the calling thread, and of all threads of the process.
int64_t thread_cpu_ns();
int64_t process_cpu_ns();

/// Whether a CPU with these flags (/proc/cpuinfo) has a time stamp counter of constant rate, in sleep and at
/// every frequency. Otherwise the counter cannot be used as a clock.
bool counter_is_steady(const char* cpu_flags);

#if defined(__x86_64__)
/// Determined once at program start. False with `BATON_CLOCK=system`.
extern const bool use_counter;
#endif

/// A fast counter of constant rate: the time stamp counter if usable, else monotonic_ns().
inline uint64_t ticks() {
#if defined(__x86_64__)
  return use_counter ? __rdtsc() : static_cast<uint64_t>(monotonic_ns());
#elif defined(__aarch64__)
  uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return static_cast<uint64_t>(monotonic_ns());
#endif
}

/// ticks() after all preceding instructions have finished: code between two fenced readings is attributed
/// exactly.
inline uint64_t fenced_ticks() {
#if defined(__x86_64__)
  _mm_lfence();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
  return ticks();
}

/// Nanoseconds per tick, measured against the monotonic clock on first use (5 ms); thread safe.
double ns_per_tick();
/// What a reading of ticks() adds to the time between two of them, measured on first use (some us); thread
/// safe.
double ticks_per_reading();

}  // namespace baton
