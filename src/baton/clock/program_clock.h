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

/// What is sampled: a program, whose kernels have numbers. All throw Error when a kernel fails; nullopt: the
/// clocks disagree.
class ProgramClock {
 public:
  ProgramClock() = default;
  ProgramClock(const ProgramClock&) = delete;
  ProgramClock& operator=(const ProgramClock&) = delete;
  virtual ~ProgramClock() = default;

  virtual int threads() const = 0;
  /// A run that is no sample.
  virtual void warm_up() = 0;
  /// So many runs are one sample.
  virtual std::optional<Sample> run(int runs = 1, const std::function<void()>& prepare = {}) = 0;
  /// The nodes are the same in every run.
  virtual std::optional<ProfiledSample> profiled_run() = 0;
  /// Whether the time of a node is not a measured one.
  virtual bool is_simulated(uint32_t) const { return false; }

  /// How many calls of a kernel that took `us` in the program are one sample: 1, but for those that are too
  /// short for one reading of the clock, and can be called by themselves.
  virtual int loop_of(uint32_t, const std::vector<double>&) const { return 1; }
  /// Before the calls of kernels by themselves, in the order of the program: computes the operands of the
  /// next one, whose storage may have been reused since.
  virtual void compute_operands(uint32_t) {}
  virtual std::optional<Sample> calls(uint32_t, int, const std::function<void()>& = {}) {
    return std::nullopt;
  }
};

/// Of a plan.
class ExecutorClock final : public ProgramClock {
 public:
  /// `executor`: inputs and threads set.
  ExecutorClock(SampleClock& clock, Executor& executor);

  int threads() const override { return executor_.threads(); }
  void warm_up() override;
  /// Of a program with simulated devices the time that a profiled run tells: only that asks their clocks.
  std::optional<Sample> run(int runs = 1, const std::function<void()>& prepare = {}) override;
  std::optional<ProfiledSample> profiled_run() override;
  bool is_simulated(uint32_t node) const override { return executor_.plan().is_simulated(node); }
  int loop_of(uint32_t node, const std::vector<double>& us) const override;
  void compute_operands(uint32_t node) override;
  std::optional<Sample> calls(uint32_t node, int calls, const std::function<void()>& prepare = {}) override;

  /// The processor's kernels that are one function, each an uninterrupted call; null: it is none.
  const Executor::Call* call_here(uint32_t node) const;
  /// Calls in a row, of a node that is such a kernel.
  void call(uint32_t node, int calls) const;

 private:
  SampleClock& clock_;
  Executor& executor_;
  const bool simulated_;
  uint32_t next_ = 0;
};

}  // namespace baton
