// The threads that kernels run on. One pool per process, shared by all executors; a parallel loop is divided
// into one contiguous range per thread (so that a layer finds in its cache what the layer before left there),
// and who is done helps the others.
#pragma once

#include <cstdint>
#include <vector>

namespace baton {

/// One iteration of a parallel loop: Halide's task type. Returns 0, or an error code.
using ParallelTask = int (*)(void* user, int index, uint8_t* closure);

/// At most this many threads take part in a loop.
inline constexpr int kMaxThreads = 256;

/// Threads to use when nobody says otherwise: `BATON_NUM_THREADS`, else the processors this process may run
/// on, less if its control group may use less.
int default_threads();

/// Runs task(user, i, closure) for min <= i < min + extent, on the calling thread and up to current_threads()
/// - 1 others, and returns when all is done: 0, or the code of one iteration that failed (others may then be
/// left out). May be called from several threads at once. A call from within a task runs on that thread
/// alone. With one thread it is a plain loop. Threads start on first use, spin while a run is on, and sleep
/// otherwise; the child of a fork starts its own.
int parallel_for(ParallelTask task, void* user, int min, int extent, uint8_t* closure);

/// How many threads the parallel loops of the calling thread use.
int current_threads();

/// Sets current_threads() of the calling thread for a scope (0: the default). While a scope with more than
/// one thread is open, the pool's threads wait awake longer, since the next loop is near.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
  bool counted_;
};

/// Threads of the pool that have been started in this process, callers not counted.
int pool_size();

/// Their ids as the system numbers them, for profilers; a thread that is just starting may be missing.
std::vector<int> pool_thread_ids();

}  // namespace baton
