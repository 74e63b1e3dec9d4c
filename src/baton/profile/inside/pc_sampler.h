#pragma once
// A sampling profiler: records program counters at a fixed rate with one timer per thread and a signal per
// sample.
#include <cstdint>
#include <memory>
#include <vector>

#include "baton/support/base/status.h"

namespace baton {

/// Sample counts per byte of a code range.
struct PcCounts {
  uintptr_t begin = 0;
  std::vector<uint32_t> at;      ///< samples with the program counter here
  std::vector<uint32_t> called;  ///< samples in a frameless function that returns to here, such as memset
  uint64_t outside = 0;          ///< elsewhere, on the sampling thread
  uint64_t idle = 0;             ///< elsewhere, on the thread pool's threads
};

/// Samples the calling thread, and optionally the thread pool's threads. At most one per process: others
/// wait. Restores the changed signal handler on destruction. Interrupted system calls are restarted
/// (SA_RESTART).
class PcSampler {
 public:
  /// Samples code in [begin, end). kUnavailable when no signal is free, or the system has no such timers.
  static Result<std::unique_ptr<PcSampler>> create(uintptr_t begin, uintptr_t end, int hz);
  ~PcSampler();
  PcSampler(const PcSampler&) = delete;
  PcSampler& operator=(const PcSampler&) = delete;

  /// `pool`: also the existing threads of the thread pool. Sleeping threads are woken for each sample.
  Status start(bool pool);
  void stop();
  /// The counts so far. Only while stopped.
  PcCounts counts() const;

 private:
  struct State;
  explicit PcSampler(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace baton
