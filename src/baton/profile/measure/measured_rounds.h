#pragma once
// One model's samples, round by round, and what becomes of them. For .cc files of this folder only.
#include <deque>
#include <optional>
#include <vector>

#include "baton/clock/program_clock.h"
#include "baton/profile/measure/fused_times.h"

namespace baton {

class MeasuredRounds {
 public:
  MeasuredRounds(const MeasuredModel& model, const MeasureOptions& options)
      : model_(model),
        clock_({.system = options.system, .core = options.core_is_slow, .clocks = options.clocks}),
        exchange_(options.exchange) {}

  /// Begins a round, with an executor of its own, warmed up.
  void begin_round();
  /// A plain and a profiled run, in alternating order: the second one finds other cache contents and another
  /// clock speed. Then one in the model's other way, if it has one.
  void pair();
  size_t pairs() const { return pairs_; }
  /// Kernels too short for one reading of the clock: called in a loop. At the end of a round.
  void loop_short_calls();
  /// Gives back what only the other way of running needs: models are not measured at once.
  void end_round();
  /// No more rounds for now.
  void finish() { clock_.windows().finish(); }

  /// Whether a whole run and every kernel that matters have enough undisturbed samples.
  bool enough(size_t min_runs) const;
  /// Other programs ran in most windows so far: further rounds will not find a quiet machine.
  bool always_disturbed() const { return clock_.windows().always_disturbed(); }
  int threads() const { return program_->threads(); }
  bool any() const;
  /// Rounds that say how far whole runs are apart: of the others, other programs left nothing.
  size_t rounds_that_count() const;

  FusedTimes result(bool waited) const;

 private:
  struct Round {
    RoundSamples plain, profiled, between, other;
    std::vector<RoundSamples> node, looped;  // looped: of the short ones
  };
  void track(RoundSamples& samples) { clock_.windows().track(samples.disturbed); }
  std::vector<RoundSamples>& tracked(std::vector<RoundSamples>& of_nodes);
  void profiled_run(Round& round);
  std::vector<RoundSamples> of(RoundSamples Round::* member) const;
  std::vector<RoundSamples> of_node(size_t call) const;
  void complete_whole_runs(FusedTimes& times) const;
  void add_notes(FusedTimes& times, const std::string& why, bool waited) const;

  MeasuredModel model_;
  std::shared_ptr<Executor> own_;
  SampleClock clock_;
  std::unique_ptr<ProgramClock> program_;
  TimedRun other_;
  std::function<std::optional<double>(int)> exchange_;
  std::vector<double> exchange_ns_;  // of the rounds
  std::deque<Round> rounds_;         // the clock's windows mark what is in them
  std::vector<uint32_t> nodes_;
  std::vector<int> calls_per_sample_;  // > 1: looped
  size_t pairs_ = 0;
};

}  // namespace baton
