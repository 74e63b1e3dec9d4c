// Whether threads ran without a break between two instants: their CPU clock beside the wall clock, and the
// involuntary context switches that the kernel counted.
#pragma once

#include <cstdint>

namespace baton {

/// Readings at one instant, of the calling thread or of all threads of the process.
struct ThreadReading {
  int64_t wall_ns = 0;
  int64_t cpu_ns = 0;      ///< CPU time used
  int64_t preempted = 0;   ///< involuntary context switches
  int64_t all_cpu_ns = 0;  ///< CPU time used by all threads of the process; 0: not read
};

/// `all_threads`: switches and CPU time of every thread of the process; `cpu_ns` is always of the calling
/// one.
ThreadReading read_thread(bool all_threads);

/// Whether another program took the CPU in between. `waits`: the calling thread may sleep of its own accord
/// (it waits for other threads, or for a device), so that only the switches tell.
bool was_held(const ThreadReading& before, const ThreadReading& after, bool waits);

/// How long it would have taken with a processor for each of so many threads: the CPU time of the calling
/// thread, or that of all over their number where this is more. Never more than the time that passed.
double computed_ns(const ThreadReading& before, const ThreadReading& after, int threads);

}  // namespace baton
