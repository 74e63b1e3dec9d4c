#include "baton/profile/measure/measure.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <limits>

#include "baton/profile/measure/measured_rounds.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/interrupt.h"

namespace baton {

namespace {

constexpr size_t kMostTries = 50;  // for a run that the clocks agree on, when the time is over
constexpr double kMostTimes = 10;  // of min_seconds
// The same beside programs that run all the time, on one thread; several threads are rarely let alone at
// once.
constexpr double kTimesBesideOthers = 3;
constexpr int kMoreRounds = 12;       // where too few of the least_rounds were undisturbed
constexpr size_t kEnoughRuns = 1000;  // of a small model: more samples only make the report longer

}  // namespace

/// Both sides of a comparison, or one model.
class ModelMeasurement::Turns {
 public:
  Turns(std::span<const MeasuredModel> models, const MeasureOptions& options) : options_(options) {
    for (const MeasuredModel& model : models) subjects_.emplace_back(model, options);
    double load[1] = {0};
    load_ = getloadavg(load, 1) == 1 ? load[0] : 0;
  }

  /// `count` rounds more, and without a limit as many as are needed.
  void run(int count) {
    const int64_t start = monotonic_ns();
    begin_ns_ = start;
    for (const int last = round_ + count; round_ < last && !stopped_ && more();) round();
    if (stopped_)
      for (MeasuredRounds& subject : subjects_) measure_at_all(subject);
    finish();
    for (int i = 0; i < kMoreRounds && !stopped_ && too_few_count(); ++i) round(), finish();
    used_s_ += seconds_since(start);
    begin_ns_ = 0;
  }

  std::vector<FusedTimes> result() const {
    std::vector<FusedTimes> results;
    for (const MeasuredRounds& subject : subjects_) {
      results.push_back(subject.result(options_.waited));
      results.back().load_before = load_;
      results.back().interrupted = asked();
    }
    return results;
  }

  double seconds_for_rest() const {
    const double per_round = used() / std::max(1, round_);
    return std::max(0.0, std::min(per_round * (options_.rounds - round_), options_.max_seconds - used()));
  }

 private:
  bool asked() const { return options_.interrupt && *options_.interrupt; }
  /// Seconds of all calls of run().
  double used() const { return used_s_ + (begin_ns_ ? seconds_since(begin_ns_) : 0); }
  bool late() const { return used() >= options_.max_seconds; }

  size_t runs_per_round() const {
    return static_cast<size_t>(std::ceil(static_cast<double>(options_.min_runs) / options_.rounds));
  }

  bool more() const {
    if (round_ < std::max(1, options_.least_rounds)) return true;
    if (round_ < options_.rounds) return !late();
    const double seconds = options_.min_seconds * static_cast<double>(subjects_.size());
    if (late() || used() >= kMostTimes * seconds) return false;
    // Beside programs that run all the time more rounds find no quiet ones.
    const auto always = [](const MeasuredRounds& subject) {
      return subject.always_disturbed() && subject.threads() == 1;
    };
    if (used() >= kTimesBesideOthers * seconds && std::ranges::all_of(subjects_, always)) return false;
    return !std::all_of(subjects_.begin(), subjects_.end(), [&](const MeasuredRounds& subject) {
      return subject.enough(static_cast<size_t>(options_.min_runs));
    });
  }

  /// Rounds that other programs disturbed throughout do not count as those that are made in any case.
  bool too_few_count() const {
    const auto least = static_cast<size_t>(options_.least_rounds);
    return least > 1 && std::ranges::any_of(subjects_, [&](const MeasuredRounds& subject) {
             return subject.rounds_that_count() < least;
           });
  }

  void finish() {
    for (MeasuredRounds& subject : subjects_) subject.finish();
  }

  void round() {
    // Every other round in the opposite order: what drifts does not favour one of them.
    for (size_t i = 0; i < subjects_.size() && !stopped_; ++i)
      turn(subjects_[round_ % 2 ? subjects_.size() - 1 - i : i]);
    ++round_;
    if (options_.progress) options_.progress(std::min(1.0, static_cast<double>(round_) / options_.rounds));
  }

  void turn(MeasuredRounds& subject) {
    subject.begin_round();
    const int64_t begin = monotonic_ns();
    const double seconds = options_.min_seconds / options_.rounds;
    const size_t before = subject.pairs(), most = std::max(runs_per_round(), kEnoughRuns / 8);
    const auto done = [&] {
      const size_t runs = subject.pairs() - before;
      return runs >= most || (runs >= runs_per_round() && seconds_since(begin) >= seconds);
    };
    do {
      if ((stopped_ = asked())) {
        if (!anything()) throw Interrupted("interrupted while measuring; nothing was written");
        break;
      }
      if (late() && subject.pairs() > before && (subject.any() || subject.pairs() >= before + kMostTries))
        break;
      subject.pair();
    } while (!done());
    if (!stopped_) subject.loop_short_calls();
    subject.end_round();
  }

  /// Where the first model was measured when the user ended it, the others get one run of each kind.
  static void measure_at_all(MeasuredRounds& subject) {
    if (subject.any()) return;
    subject.begin_round();
    for (size_t i = 0; i < kMostTries && !subject.any(); ++i) subject.pair();
    subject.end_round();
  }

  bool anything() const {
    return std::any_of(subjects_.begin(), subjects_.end(),
                       [](const MeasuredRounds& subject) { return subject.any(); });
  }

  const MeasureOptions options_;
  std::deque<MeasuredRounds> subjects_;
  double load_ = 0;  // of the system, before
  int round_ = 0;
  double used_s_ = 0;
  int64_t begin_ns_ = 0;  // of the current run()
  bool stopped_ = false;
};

ModelMeasurement::ModelMeasurement(std::span<const MeasuredModel> models, const MeasureOptions& options)
    : turns_(std::make_unique<Turns>(models, options)) {}
ModelMeasurement::~ModelMeasurement() = default;

void ModelMeasurement::rounds(int count) { turns_->run(count); }
double ModelMeasurement::seconds_for_rest() const { return turns_->seconds_for_rest(); }
std::vector<FusedTimes> ModelMeasurement::so_far() const { return turns_->result(); }

std::vector<FusedTimes> ModelMeasurement::result() {
  turns_->run(std::numeric_limits<int>::max() / 2);
  return turns_->result();
}

std::vector<FusedTimes> measure_in_turns(std::span<const MeasuredModel> models,
                                         const MeasureOptions& options) {
  return ModelMeasurement(models, options).result();
}

FusedTimes measure_fused(Executor& executor, const MeasureOptions& options) {
  const MeasuredModel only[] = {{&executor, {}}};
  return std::move(measure_in_turns(only, options).front());
}

}  // namespace baton
