#pragma once
// Samples of a program and its kernels, as an executor runs them.
#include <functional>
#include <optional>
#include <vector>

#include "baton/clock/sample_clock.h"
#include "baton/runtime/executor.h"

namespace baton {

/// Whether a kernel runs on a simulated device: what other programs do changes no time there.
bool is_simulated(const Plan& plan);

/// One profiled run.
struct ProfiledSample {
  std::vector<uint32_t> nodes;  ///< the called plan nodes, in order
  std::vector<Sample> kernels;  ///< of each
  Sample whole, between;        ///< between: whole run less its kernels
};

/// All throw Error when a kernel fails; nullopt: the clocks disagree.
class ProgramClock {
 public:
  /// `executor`: inputs and threads set.
  ProgramClock(SampleClock& clock, Executor& executor);

  /// So many runs are one sample. Of a program with simulated devices the time that a profiled run tells:
  /// only that asks their clocks.
  std::optional<Sample> run(int runs = 1, const std::function<void()>& prepare = {});
  std::optional<ProfiledSample> profiled_run();

  /// The processor's kernels that are one function, each an uninterrupted call; null: it is none.
  const Executor::Call* call_here(uint32_t node) const;
  /// Calls in a row, of a node that is such a kernel.
  void call(uint32_t node, int calls) const;
  std::optional<Sample> calls(uint32_t node, int calls, const std::function<void()>& prepare = {});
  /// How many calls of a kernel that took `us` in the program are one sample: 1, but for those that are too
  /// short for one reading of the clock.
  int loop_of(uint32_t node, const std::vector<double>& us) const;
  /// Before the calls of kernels by themselves, in the order of the program: computes the operands of the
  /// next one, whose storage may have been reused since.
  void compute_operands(uint32_t node);

 private:
  SampleClock& clock_;
  Executor& executor_;
  const bool simulated_;
  uint32_t next_ = 0;
};

}  // namespace baton
