#pragma once
// Measurement for bars: CPU time of this thread, in separate processes.
#include <cstdint>
#include <functional>

#include <sys/wait.h>
#include <unistd.h>

#include "baton/runtime/system/timers.h"

namespace baton::bars {

/// CPU nanoseconds that `work` takes on this thread.
template <typename Work>
double cpu_ns(Work work) {
  const int64_t start = thread_cpu_ns();
  work();
  return static_cast<double>(thread_cpu_ns() - start);
}

/// The result of `work` in a forked process: memory that an earlier burst left in the allocator would make
/// some sizes faster than others. This process's memory must be small, since the child's first write to each
/// page copies it. 1e300 when the child fails.
inline double alone(const std::function<double()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return 1e300;
  const pid_t child = fork();
  if (child == 0) {
    const double result = work();
    const bool written = write(ends[1], &result, sizeof result) == sizeof result;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  double result = 1e300;
  if (read(ends[0], &result, sizeof result) != sizeof result) result = 1e300;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return result;
}

}  // namespace baton::bars
