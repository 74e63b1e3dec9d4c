#include "baton/profile/measure/measure.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "baton/pass/interrupt.h"
#include "baton/profile/measure/measured_rounds.h"
#include "baton/runtime/timers.h"

namespace baton {

namespace {

constexpr double kWindowSeconds = 0.3;  // between two readings of /proc/stat, which counts in steps of 10 ms
constexpr size_t kEnoughRuns = 1000;    // of a small model: more samples only make the report longer

double seconds_since(int64_t since) { return static_cast<double>(monotonic_ns() - since) / 1e9; }

class Turns {
 public:
  Turns(std::span<const MeasuredModel> models, const MeasureOptions& options) : options_(options) {
    for (const MeasuredModel& model : models) subjects_.emplace_back(model, options.clocks);
  }

  std::vector<FusedTimes> run() {
    double load[1] = {0};
    const bool known = getloadavg(load, 1) == 1;
    for (int round = 0; !stopped_ && more(round); ++round) {
      // Every other round in the opposite order: what drifts does not favour one of them.
      for (size_t i = 0; i < subjects_.size() && !stopped_; ++i)
        turn(subjects_[round % 2 ? subjects_.size() - 1 - i : i]);
      if (options_.progress) options_.progress(std::min(1.0, (round + 1.0) / options_.rounds));
    }
    std::vector<FusedTimes> results;
    for (const MeasuredRounds& subject : subjects_) {
      results.push_back(subject.result(options_.waited));
      results.back().load_before = known ? load[0] : 0;
      results.back().interrupted = asked();
    }
    return results;
  }

 private:
  bool asked() const { return options_.interrupt && *options_.interrupt; }
  bool late() const { return seconds_since(start_) >= options_.max_seconds; }

  size_t runs_per_round() const {
    return static_cast<size_t>(std::ceil(static_cast<double>(options_.min_runs) / options_.rounds));
  }

  bool more(int round) const {
    if (round == 0) return true;
    if (round < options_.rounds) return !late();
    if (late() || seconds_since(start_) >= 10 * options_.min_seconds * static_cast<double>(subjects_.size()))
      return false;
    return !std::all_of(subjects_.begin(), subjects_.end(), [&](const MeasuredRounds& subject) {
      return subject.enough(static_cast<size_t>(options_.min_runs));
    });
  }

  void turn(MeasuredRounds& subject) {
    subject.begin_round();
    const int64_t begin = monotonic_ns();
    const double seconds = options_.min_seconds / options_.rounds;
    const size_t before = subject.pairs(), most = std::max(runs_per_round(), kEnoughRuns / 8);
    SystemReading window = options_.system();
    int64_t window_begin = begin;
    const auto close_window = [&] {
      const SystemReading now = options_.system();
      subject.end_window(disturbance(window, now));
      window = now;
      window_begin = monotonic_ns();
    };
    const auto done = [&] {
      const size_t runs = subject.pairs() - before;
      return runs >= most || (runs >= runs_per_round() && seconds_since(begin) >= seconds);
    };
    do {
      if ((stopped_ = asked())) {
        if (!everything()) throw Interrupted("interrupted while measuring; nothing was written");
        break;
      }
      if (late() && subject.pairs() > before) break;
      subject.pair();
      if (seconds_since(window_begin) >= kWindowSeconds) close_window();
    } while (!done());
    if (!stopped_) subject.loop_short_calls();
    close_window();
  }

  bool everything() const {
    return std::all_of(subjects_.begin(), subjects_.end(),
                       [](const MeasuredRounds& subject) { return subject.any(); });
  }

  const MeasureOptions& options_;
  std::vector<MeasuredRounds> subjects_;
  const int64_t start_ = monotonic_ns();
  bool stopped_ = false;
};

}  // namespace

std::vector<FusedTimes> measure_in_turns(std::span<const MeasuredModel> models,
                                         const MeasureOptions& options) {
  return Turns(models, options).run();
}

FusedTimes measure_fused(Executor& executor, const MeasureOptions& options) {
  const MeasuredModel only[] = {{&executor, {}}};
  return std::move(measure_in_turns(only, options).front());
}

}  // namespace baton
