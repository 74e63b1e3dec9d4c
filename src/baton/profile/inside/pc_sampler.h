#pragma once
// Notes program counters at a fixed rate: one timer per thread, a signal per sample, a table of counters.
#include <cstdint>
#include <memory>
#include <vector>

#include "baton/support/base/status.h"

namespace baton {

/// How often each byte of a stretch of code was met.
struct PcCounts {
  uintptr_t begin = 0;
  std::vector<uint32_t> at;  ///< the program counter was here
  std::vector<uint32_t>
      called;            ///< it was in a function without a frame of its own that returns to here: memset
  uint64_t outside = 0;  ///< elsewhere, on the thread that samples
  uint64_t idle = 0;     ///< elsewhere, on the thread pool's
};

/// Samples the thread that starts it, and the thread pool's threads if asked to. One at a time in a process:
/// the next one waits. What it changes of the process (one signal's handler) is put back when it goes. Calls
/// that signals interrupt are continued (SA_RESTART).
class PcSampler {
 public:
  /// Code [begin, end) is looked at. kUnavailable when no signal is free, or on a system that has no such
  /// timers.
  static Result<std::unique_ptr<PcSampler>> create(uintptr_t begin, uintptr_t end, int hz);
  ~PcSampler();
  PcSampler(const PcSampler&) = delete;
  PcSampler& operator=(const PcSampler&) = delete;

  /// `pool`: the thread pool's threads too, those that there are. Ones that sleep are woken for each sample.
  Status start(bool pool);
  void stop();
  /// What was counted so far. Stopped only.
  PcCounts counts() const;

 private:
  struct State;
  explicit PcSampler(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace baton
