#include "baton/profile/inside/inside.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "baton/pass/interrupt.h"
#include "baton/profile/inside/inside_sampled.h"
#include "baton/profile/inside/inside_screen.h"
#include "baton/profile/inside/inside_variants.h"
#include "baton/profile/measure/measure.h"
#include "baton/profile/measure/quiet.h"
#include "baton/runtime/marks.h"
#include "baton/runtime/thread_pool.h"
#include "baton/runtime/timers.h"
#include "baton/support/error.h"

namespace baton {

namespace {

// Stages with visits shorter than this many empty intervals are not marked (docs/design/0004).
constexpr double kMinIntervals = 3;
constexpr double kCheapMarks = 0.002;  // fraction of the kernel's time: cheaper marks are always kept
constexpr size_t kMinRounds = 15, kMaxRounds = 4000;
// Target standard error of the shares, as a fraction of the kernel's time; reaching it ends the rounds.
constexpr double kEnough = 0.0007;
// The maximum number of measurements of a kernel whose stage sum is off, and the difference of two stage sums
// that counts as noise.
constexpr int kAttempts = 4;
constexpr int kCallAttempts = 4;
constexpr double kSameSum = 0.01;

/// Measures one kernel in its model's memory.
class Bench {
 public:
  Bench(MeasuredKernel& kernel, std::span<void*> args, const InsideOptions& options)
      : kernel_(kernel), args_(args), options_(options) {}

  InsideTimes run() {
    InsideTimes times = kernel_.whole() ? split(rounds(options_.ms_per_kernel / 10)) : split_stages();
    if (options_.sampling && (!times.trusted() || (lost_ && kernel_.marks.size() < 2))) sample(times);
    if (options_.threads > 1) {
      const ThreadScope scope(options_.threads);
      add_loads(times, kernel_, rounds(options_.ms_per_kernel / 3, options_.threads), options_.threads);
      times.threads_tally = tally_;
      share_loads(times);
    }
    return times;
  }

 private:
  InsideTimes split_stages() {
    const bool inner = has_inner();
    InsideTimes fine = with_marks(inner ? 2 : kAttempts);
    if (fine.trusted() || !inner) return fine;
    // Marks within the result's own stages disturb them too much: measure its operator as a whole.
    kernel_.within = false;
    lost_ = true;
    kernel_.merged.clear();
    mark_again(kernel_, options_.compile);
    if (kernel_.whole()) return split(rounds(options_.ms_per_kernel / 10));
    InsideTimes coarse = with_marks(kAttempts);
    return std::abs(coarse.stage_sum - 1) < std::abs(fine.stage_sum - 1) ? coarse : fine;
  }

  /// Replaces the stages' shares by those of samples of the plain kernel.
  void sample(InsideTimes& times) {
    std::string why;
    const auto shares =
        sampled_shares(kernel_.variants[kPlain], args_, options_.ms_per_kernel, options_.compile, why);
    if (!shares) {
      times.fallback = (times.trusted() ? "some stages are too short for marks, and there is no sampling: "
                                        : "no sampling to fall back to: ") +
                       why;
      return;
    }
    const auto told = std::count_if(shares->begin(), shares->end(),
                                    [](const SampledShare& share) { return !share.stage.empty(); });
    if (told < 2 && times.trusted()) return;  // sampling cannot separate them either
    char reason[80] = "they are too short for marks";
    if (marked_sum_ > 0)
      std::snprintf(reason, sizeof reason, "under marks they sum to %.1f %%", marked_sum_ * 100);
    InsideTimes sampled = split_sampled(kernel_, last_, *shares);
    sampled.tally = times.tally;
    sampled.fallback = std::string("stages by sampling: ") + reason;
    times = std::move(sampled);
  }

  InsideTimes with_marks(int attempts) {
    kernel_.merged = too_short(rounds(options_.ms_per_kernel / 4));
    lost_ |= !kernel_.merged.empty();
    if (!kernel_.merged.empty()) mark_again(kernel_, options_.compile);
    auto measured = rounds(options_.ms_per_kernel);
    InsideTimes best = split(measured);
    if (!best.trusted()) marked_sum_ = best.stage_sum;
    double sum = best.stage_sum, before = 0;
    // Either the machine was disturbed, or the marks distort the kernel. So measure again; when the result is
    // the same, drop the marks of the shortest stage: fewer stages, but correct shares.
    for (int attempt = 0; attempt < attempts && !best.trusted(); ++attempt) {
      const bool same = attempt > 0 && std::abs(sum - before) < kSameSum;
      const std::string drop = same || attempt > 1 ? shortest(measured) : "";
      if (!drop.empty()) {
        kernel_.merged.insert(drop);
        lost_ = true;
        mark_again(kernel_, options_.compile);
      }
      measured = rounds(options_.ms_per_kernel);
      InsideTimes again = split(measured);
      before = sum;
      sum = again.stage_sum;
      if (std::abs(again.stage_sum - 1) < std::abs(best.stage_sum - 1)) best = std::move(again);
    }
    return best;
  }

  /// Whether stages of the result's own operator are marked.
  bool has_inner() const {
    const int last = static_cast<int>(kernel_.blocks.size()) - 1;
    return std::any_of(kernel_.marks.begin(), kernel_.marks.end(),
                       [&](const MarkSite& site) { return site.block == last && !is_root(kernel_, site); });
  }

  InsideTimes split(const std::vector<InsideRound>& measured) const {
    InsideTimes times = split_inside(kernel_, measured);
    times.tally = tally_;
    return times;
  }

  uint64_t now() const { return options_.clock ? options_.clock() : fenced_ticks(); }

  static double us_of(uint64_t ticks) {
    return static_cast<double>(static_cast<int64_t>(ticks)) * ns_per_tick() / 1e3;
  }

  /// Time of one call in microseconds; negative when the clock stepped back. A call during which the process
  /// was descheduled is repeated, for a while: on a busy machine hardly any round would remain otherwise.
  /// `before_call`: resets what the call accumulates.
  template <class Reset>
  double timed_call(size_t variant, Reset before_call) {
    for (int attempt = 1;; ++attempt) {
      before_call();
      const long switches = times_held_up();
      const uint64_t before = now();
      const int code = kernel_.variants[variant].function(args_.data());
      const double us = us_of(now() - before);
      if (code)
        throw Error(kernel_.built->func_name + " failed with code " + std::to_string(code) +
                    " while it was measured");
      if (attempt == kCallAttempts || times_held_up() == switches) return us;
    }
  }
  double timed_call(size_t variant) {
    return timed_call(variant, [] {});
  }

  double marked_call(size_t variant, InsideRound& round) {
    const double us = timed_call(variant, reset_marks);
    const MarkTable marks = collect_marks();
    round.clock_stepped |= clock_steps() > 0;
    if (variant == kMarked) {
      for (const MarkSite& site : kernel_.marks) {
        round.site_us.push_back(us_of(marks[site.id].ticks));
        round.visits.push_back(static_cast<double>(marks[site.id].visits));
      }
    } else if (const MarkSlot& empty = marks[kCalibrationSlot]; empty.visits > 0) {
      round.empty_us = us_of(empty.ticks) / static_cast<double>(empty.visits);
    }
    return us;
  }

  /// `first`: the variant to start with; the cyclic order is fixed, but the start rotates.
  InsideRound one_round(size_t first, bool loads_only) {
    InsideRound round;
    round.ablated_us.resize(loads_only ? 0 : kernel_.ablated.size());
    const size_t count = kernel_.variants.size();
    for (size_t i = 0; i < count; ++i) {
      const size_t variant = (first + i) % count;
      if (variant == kPlain)
        round.plain_us = timed_call(variant);
      else if (variant == kMarked)
        round.marked_us = marked_call(variant, round);
      else if (variant == kDoubled)
        round.doubled_us = marked_call(variant, round);
      else if (loads_only)
        continue;
      else if (variant == kTwin)
        round.twin_us = timed_call(variant);
      else
        round.ablated_us[variant - kFirstAblated] = timed_call(variant);
    }
    return round;
  }

  /// Measures all variants in turn, repeatedly, in the same memory; returns the accepted rounds. `threads` >
  /// 1: only the plain and the marked ones.
  std::vector<InsideRound> rounds(double budget_ms, int threads = 1) {
    std::vector<InsideRound> all;
    one_round(0, threads > 1);  // warms up caches, pages and branch predictors
    const int64_t start = monotonic_ns();
    size_t look = 2 * kMinRounds;
    while (all.size() < kMinRounds ||
           (static_cast<double>(monotonic_ns() - start) < budget_ms * 1e6 && all.size() < kMaxRounds)) {
      if (options_.compile.interrupt && *options_.compile.interrupt)
        throw Interrupted("interrupted while measuring; nothing was written");
      all.push_back(one_round(all.size(), threads > 1));
      if (all.size() < look) continue;
      if (uncertainty(kernel_, all) < kEnough) break;
      look *= 2;
    }
    tally_ = screen_rounds(all, threads);
    if (all.empty())
      throw Error("the clock of this machine steps: no measurement of " + kernel_.built->func_name +
                  " was left; BATON_CLOCK=system measures with the system's clock");
    if (threads == 1) last_ = all;
    return all;
  }

  /// Whether the cost of a stage's marks is significant.
  bool disturbs(const std::vector<InsideRound>& measured, size_t site) const {
    std::vector<double> visits, plain;
    for (const InsideRound& round : measured)
      visits.push_back(round.visits[site]), plain.push_back(round.plain_us);
    return median(std::move(visits)) * empty_interval_us(measured) > kCheapMarks * median(std::move(plain));
  }

  /// The names of stages whose visits are too short to be marked.
  std::set<std::string> too_short(const std::vector<InsideRound>& measured) const {
    std::set<std::string> names;
    for (size_t i = 0; i < kernel_.marks.size(); ++i)
      if (!is_root(kernel_, kernel_.marks[i]) && disturbs(measured, i) &&
          us_per_visit(measured, i) < kMinIntervals * empty_interval_us(measured))
        names.insert(kernel_.marks[i].name);
    return names;
  }

  /// The name of the marked stage with the shortest visits, whose marks disturb most. "" when none is left.
  std::string shortest(const std::vector<InsideRound>& measured) const {
    std::string name;
    double least = 1e300;
    for (size_t i = 0; i < kernel_.marks.size(); ++i) {
      const double us = us_per_visit(measured, i);
      if (is_root(kernel_, kernel_.marks[i]) || !disturbs(measured, i) || us >= least) continue;
      least = us;
      name = kernel_.marks[i].name;
    }
    return name;
  }

  MeasuredKernel& kernel_;
  std::span<void*> args_;
  const InsideOptions& options_;
  RoundTally tally_;               // of the last rounds() call
  std::vector<InsideRound> last_;  // on one thread
  double marked_sum_ = 0;          // sum of stages that were not trusted at first; 0: trusted
  bool lost_ = false;              // some stages are not marked, since marks disturb them
};

}  // namespace

std::map<std::string, InsideTimes> measure_inside(const BuildResult& built, Executor& executor,
                                                  const InsideOptions& options) {
  const auto kernels = make_variants(built, options.threads > 1, options.compile);
  std::map<std::string, InsideTimes> result;
  const ThreadScope one_thread(1);
  int done = 0;
  for (const auto& kernel : kernels) {
    if (options.progress) options.progress(done++, static_cast<int>(kernels.size()));
    // Runs the kernels before it to recompute its inputs, whose storage may have been reused.
    const Status status = executor.run_range(0, kernel->node + 1);
    if (!status.ok()) throw Error(status.message);
    result[kernel->built->func_name] = Bench(*kernel, executor.node_args(kernel->node), options).run();
  }
  if (options.progress) options.progress(done, static_cast<int>(kernels.size()));
  return result;
}

}  // namespace baton
