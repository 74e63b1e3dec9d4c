#pragma once
// Samples of a program of the virtual machine.
#include "baton/clock/program_clock.h"
#include "baton/runtime/vm/measured_run.h"

namespace baton {

/// The nodes of a profiled run are those of the plan that reports read, each with the time of all its calls
/// in the run, then the parts of a run in the order of vm::RunPart, and of a program on several devices the
/// copies that each node causes, and those outside of it.
class MachineClock final : public ProgramClock {
 public:
  /// Runs the program; null: without being measured.
  using Run = std::function<void(vm::MeasuredRun*)>;

  /// `plan`: that reports read. `all`: what all measured runs take is added to it. Both outlive this.
  MachineClock(SampleClock& clock, Run run, const Plan& plan, int threads, vm::MeasuredRun& all);

  int threads() const override { return threads_; }
  void warm_up() override;
  /// Of a program with simulated devices the time that a measured run tells: only that asks their clocks.
  std::optional<Sample> run(int runs = 1, const std::function<void()>& prepare = {}) override;
  std::optional<ProfiledSample> profiled_run() override;
  bool is_simulated(uint32_t node) const override { return node < nodes_ && plan_.is_simulated(node); }

 private:
  std::vector<double> totals() const;
  size_t copies() const { return devices_ ? nodes_ + 1 : 0; }

  SampleClock& clock_;
  Run run_;
  const Plan& plan_;
  const size_t nodes_;
  const bool simulated_, devices_;
  int threads_;
  vm::MeasuredRun& all_;
};

}  // namespace baton
