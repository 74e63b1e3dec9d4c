// Whether threads ran without a break between two instants: their CPU clock beside the wall clock, and the
// involuntary context switches that the kernel counted.
#pragma once

#include <cstdint>

namespace baton {

/// Readings at one instant, of the calling thread or of all threads of the process.
struct ThreadReading {
  int64_t wall_ns = 0;
  int64_t cpu_ns = 0;     ///< CPU time used
  int64_t preempted = 0;  ///< involuntary context switches
};

/// `all_threads`: switches of every thread of the process; the CPU time is always the calling thread's.
ThreadReading read_thread(bool all_threads);

/// Whether another program took the CPU in between. `waits`: the calling thread may sleep of its own accord
/// (it waits for other threads, or for a device), so that only the switches tell.
bool was_held(const ThreadReading& before, const ThreadReading& after, bool waits);

}  // namespace baton
