#pragma once
// Takes samples: the one place where kernels and programs are timed (design note 0018).
#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "baton/clock/clock_watch.h"
#include "baton/clock/core_pace.h"
#include "baton/clock/estimate.h"
#include "baton/clock/windows.h"

namespace baton {

struct SampleConditions {
  const std::atomic<bool>* interrupt = nullptr;  ///< asked before each sample, which throws Interrupted
  SystemSource system = read_system;
  std::function<CoreLook()> core = {};  ///< asked before and after each sample; null: it is not
  double most_pause_s = 0;              ///< in all, for the core to run at its usual speed again
  Clocks clocks = Clocks::of_this_machine();
};

/// How many calls of what takes `us` are one sample: reading the clock is a thousandth of it at most.
int calls_per_sample(double us);

class SampleClock {
 public:
  /// Runs what a sample is made of. Returns the microseconds that count; 0: those that pass meanwhile.
  using Run = std::function<double()>;

  explicit SampleClock(SampleConditions conditions)
      : windows_(std::move(conditions.system)),
        watch_(std::move(conditions.clocks)),
        core_(std::move(conditions.core)),
        interrupt_(conditions.interrupt),
        most_pause_s_(conditions.most_pause_s) {}

  /// What the samples that follow are of: so many threads, kernels of other devices than the processor, and
  /// whether some of these are simulated, so that no time tells what the machine does meanwhile.
  void use(int threads, bool on_devices = false, bool simulated = false);

  /// One sample of so many calls; nullopt when the clocks disagree. `prepare`: right before, not counted.
  std::optional<Sample> take(const Run& run, int calls = 1, const std::function<void()>& prepare = {});
  /// The same, once more when another program took the processor meanwhile, up to four times: on a busy
  /// machine hardly any sample of many calls would remain otherwise.
  std::optional<Sample> take_unheld(const Run& run, const std::function<void()>& prepare = {});
  /// The same of a run that times itself, part by part. `gather`: whether it is to begin when all threads
  /// have a processor. Of what it returns only that it is slow, and the core, are known.
  std::optional<Sample> watch(const std::function<void(bool gather)>& run);
  /// What was taken last is no sample, though the clocks agree.
  void refuse() { watch_.refuse(); }
  /// For reason(), of what watch() was asked for.
  void count(bool held);

  DisturbanceWindows& windows() { return windows_; }
  const DisturbanceWindows& windows() const { return windows_; }
  const ClockWatch& clocks() const { return watch_; }
  size_t taken() const { return taken_; }
  /// What disturbed the samples.
  std::string reason() const;
  double paused_s() const { return paused_s_; }  ///< waiting for the core

 private:
  bool sees_slow_core();
  bool waits_for_core(const std::function<void()>& again);
  bool gathers();

  DisturbanceWindows windows_;
  ClockWatch watch_;
  std::function<CoreLook()> core_;
  const std::atomic<bool>* interrupt_;
  double most_pause_s_, paused_s_ = 0;
  int threads_ = 1;
  bool on_devices_ = false, simulated_ = false;
  CoreLook seen_;  // at the last look
  int64_t looked_ns_ = 0;
  size_t taken_ = 0, held_ = 0, begun_ = 0;
};

/// Throws Error: none of so many runs could be timed.
[[noreturn]] void throw_clocks_disagree(size_t runs);

}  // namespace baton
