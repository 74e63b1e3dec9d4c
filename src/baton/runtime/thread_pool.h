// The thread pool for kernels. One per process, shared by all executors; a parallel loop is divided into one
// contiguous range per thread (so that a layer finds its input in the cache of the thread that wrote it),
// with work stealing at the end.
#pragma once

#include <cstdint>
#include <vector>

#include <signal.h>

namespace baton {

/// One iteration of a parallel loop: Halide's task type. Returns 0, or an error code.
using ParallelTask = int (*)(void* user, int index, uint8_t* closure);

/// The maximum number of threads per loop.
inline constexpr int kMaxThreads = 256;

/// The default number of threads: `BATON_NUM_THREADS` or `TVM_NUM_THREADS`, else the CPUs available to this
/// process by affinity and control group.
int default_threads();

/// Runs task(user, i, closure) for min <= i < min + extent, on the calling thread and up to current_threads()
/// - 1 others, and waits for completion. Returns 0, or the error code of a failed iteration (others may then
/// be skipped). Thread safe. Nested calls run serially. With one thread it is a plain loop. Threads start on
/// first use, spin during a run, and sleep otherwise; the child of a fork starts its own.
int parallel_for(ParallelTask task, void* user, int min, int extent, uint8_t* closure);

/// The number of threads for parallel loops of the calling thread.
int current_threads();

/// Waits, at most so long, until all threads of a parallel loop have a processor at the same time: beside
/// other programs some are away for milliseconds. False: they did not, or there are not as many processors.
/// For measuring.
bool gather_threads(int64_t patience_ns);

/// RAII: sets current_threads() of the calling thread (0: the default). While a scope with more than one
/// thread is open, the pool's threads spin longer, since the next loop is near.
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

/// RAII: threads that are started meanwhile leave the program's signals to its own threads; those of
/// profilers (SIGPROF, real time) they get.
class BlockedSignals {
 public:
  BlockedSignals();
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

/// The number of started pool threads in this process, without callers.
int pool_size();

/// Their system thread ids, for profilers; a thread that is just starting may be missing.
std::vector<int> pool_thread_ids();

}  // namespace baton
