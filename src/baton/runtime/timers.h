// Clocks. Kernel times come from the time stamp counter: 10 ns a reading, against 30 and more for the
// system's clock.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace baton {

/// CLOCK_MONOTONIC.
int64_t monotonic_ns();

/// CPU time of the calling thread, and of all threads of the process.
int64_t thread_cpu_ns();
int64_t process_cpu_ns();

/// Whether a processor with these flags (/proc/cpuinfo) has a time stamp counter that counts at one rate, in
/// sleep and at every frequency. Where it has not, the counter's numbers are no times.
bool counter_is_steady(const char* cpu_flags);

#if defined(__x86_64__)
/// Asked once, when the program starts. `BATON_CLOCK=system` says no.
extern const bool use_counter;
#endif

/// A fast counter of constant rate: the time stamp counter where there is a steady one, else monotonic_ns().
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

/// ticks() after everything before it has finished: what stands between two fenced readings is billed to
/// nothing else.
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

}  // namespace baton
