// One run of a model on the threads of this process.
#pragma once

#include <cstdint>
#include <vector>

namespace baton {

/// One run in time: what the calling thread ran, and what all threads did of its parallel loops. Nanoseconds
/// since the begin of the run.
struct RunTimeline {
  struct Call {
    uint32_t node;
    double begin_ns, end_ns;
  };
  struct Loop {
    int thread;  ///< 0: the caller; n: the n-th thread of the pool
    double begin_ns, end_ns;
    int iterations;
  };
  std::vector<Call> calls;  ///< in order
  std::vector<Loop> loops;  ///< by thread, then in order
  double total_ns = 0;
  bool held = false;  ///< another program took a processor meanwhile
};

}  // namespace baton
