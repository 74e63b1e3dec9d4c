#pragma once
// One model's samples, round by round, and what becomes of them. For .cc files of this folder only.
#include <optional>
#include <vector>

#include "baton/profile/measure/fused_times.h"

namespace baton {

class MeasuredRounds {
 public:
  MeasuredRounds(const MeasuredModel& model, const MeasureOptions& options)
      : model_(model),
        watch_(options.clocks),
        exchange_(options.exchange),
        core_is_slow_(options.core_is_slow) {}

  /// Begins a round, with an executor of its own, warmed up.
  void begin_round();
  /// A plain and a profiled run, in alternating order: the second one finds other cache contents and another
  /// clock speed. Then one in the model's other way, if it has one.
  void pair();
  /// Everything since the last window (or begin_round) happened under `what`.
  void end_window(const Disturbance& what);

  size_t pairs() const { return pairs_; }
  /// Kernels too short for one reading of the clock: called in a loop. At the end of a round.
  void loop_short_calls();
  /// Gives back what only the other way of running needs: models are not measured at once.
  void end_round() { other_ = nullptr; }

  /// Whether a whole run and every kernel that matters have enough undisturbed samples.
  bool enough(size_t min_runs) const;
  /// Other programs ran in most windows so far: further rounds will not find a quiet machine.
  bool always_disturbed() const;
  int threads() const { return executor_->threads(); }
  bool any() const { return !rounds_.empty() && plain_runs_ > 0 && profiled_runs_ > 0; }

  FusedTimes result(bool waited) const;

 private:
  struct Round {
    RoundSamples plain, profiled, between, other;
    std::vector<RoundSamples> node;
    std::vector<RoundSamples> looped;  // of the short ones
  };
  bool is_simulated() const;
  bool is_slow();
  void plain_run(Round& round);
  void profiled_run(Round& round);
  void other_run(Round& round);
  std::vector<RoundSamples> of(RoundSamples Round::* member) const;
  std::vector<RoundSamples> of_node(size_t call) const;
  std::string reason() const;
  void complete_whole_runs(FusedTimes& times) const;
  void add_notes(FusedTimes& times, const std::string& why, bool waited) const;

  MeasuredModel model_;
  std::shared_ptr<Executor> own_;
  Executor* executor_ = nullptr;
  TimedRun other_;
  ClockWatch watch_;
  std::function<std::optional<double>(int)> exchange_;
  std::function<CoreLook()> core_is_slow_;
  bool simulated_ = false;  // of executor_
  CoreLook core_;           // at the last look
  int64_t asked_ns_ = 0;
  std::vector<double> exchange_ns_;  // of the rounds
  std::vector<Round> rounds_;
  std::vector<uint32_t> nodes_;
  std::vector<int> calls_per_sample_;  // > 1: looped
  size_t pairs_ = 0, plain_runs_ = 0, profiled_runs_ = 0;
  /// Samples not judged yet: their windows are too short for what /proc/stat counts.
  struct Unjudged {
    size_t round, plain, profiled, other;  // from these on
  };
  void judge();
  std::vector<Unjudged> unjudged_;
  Disturbance unjudged_sum_;
  size_t window_plain_ = 0, window_profiled_ = 0, window_other_ = 0;  // sizes at the start of the window
  size_t held_ = 0;  // runs during which the thread was taken off its CPU
  size_t slow_ = 0;  // runs during which the core was slower than usual
  Disturbance sum_;
  double disturbed_s_ = 0;  // of it
};

}  // namespace baton
