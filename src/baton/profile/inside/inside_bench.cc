#include "baton/profile/inside/inside_bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/profile/inside/inside_screen.h"
#include "baton/profile/measure/measure.h"
#include "baton/runtime/marks.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/base/checksum.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"
#include "baton/support/version.h"

namespace baton {

namespace {

// Stages with visits shorter than this many empty intervals are not marked (docs/design/0004).
constexpr double kMinIntervals = 3;
constexpr double kCheapMarks = 0.002;  // fraction of the kernel's time: cheaper marks are always kept
constexpr size_t kMinRounds = 15, kHurriedRounds = 5, kLateRounds = 3, kMaxRounds = 4000;
// Target standard error of the shares, as a fraction of the kernel's time; reaching it ends the rounds.
constexpr double kEnough = 0.0007;
// The maximum number of measurements of a kernel whose stage sum is off, and the difference of two stage sums
// that counts as noise.
constexpr int kAttempts = 4;
constexpr double kSameSum = 0.01;
constexpr double kLate = 4;  // times the part of the budget
// A kept plan with marks is given up when the stages sum up to less or more than 100 % by this.
constexpr double kClearlyWrong = 0.07;
constexpr const char* kPlanKind = "split";

double us_of(uint64_t ticks) {
  return static_cast<double>(static_cast<int64_t>(ticks)) * ns_per_tick() / 1e3;
}

Clocks clocks_of(const InsideOptions& options) {
  Clocks clocks = Clocks::of_this_machine();
  if (options.clock) clocks.ticks = options.clock;
  return clocks;
}

}  // namespace

InsideBench::InsideBench(MeasuredKernel& kernel, const InsideOptions& options)
    : kernel_(kernel), options_(options), clock_({.clocks = clocks_of(options)}) {}

std::string SplitPlan::text() const {
  std::string text =
      std::string("split 1\nwithin ") + (within ? "1" : "0") + "\nsampled " + (sampled ? "1" : "0") + "\n";
  for (const std::string& name : merged) text += "merged " + name + "\n";
  return text + "end\n";
}

std::optional<SplitPlan> SplitPlan::from_text(const std::string& text) {
  std::istringstream lines(text);
  SplitPlan plan;
  std::string key, value;
  if (!(lines >> key >> value) || key != "split" || value != "1") return std::nullopt;
  while (lines >> key && key != "end") {
    if (!(lines >> value)) return std::nullopt;
    if (key == "merged") {
      plan.merged.insert(value);
      continue;
    }
    if ((key != "within" && key != "sampled") || (value != "0" && value != "1")) return std::nullopt;
    (key == "within" ? plan.within : plan.sampled) = value == "1";
  }
  return key == "end" ? std::optional(plan) : std::nullopt;
}

KernelKey InsideBench::plan_key() const {
  const std::string text = "split 1/" + std::string(version()) + "/" + kernel_.built->kernel->key.hex();
  return digest128(text.data(), text.size());
}

std::optional<SplitPlan> InsideBench::kept_plan() const {
  KernelCache& cache = options_.compile.cache ? *options_.compile.cache : KernelCache::shared();
  const auto text = cache.load_bytes(plan_key(), kPlanKind);
  return text ? SplitPlan::from_text(*text) : std::nullopt;
}

void InsideBench::keep_plan() const {
  KernelCache& cache = options_.compile.cache ? *options_.compile.cache : KernelCache::shared();
  cache.store_bytes(plan_key(), kPlanKind, SplitPlan{kernel_.within, sampled_, kernel_.merged}.text());
}

bool InsideBench::adopt_kept_plan() {
  const auto plan = options_.sampling ? kept_plan() : std::nullopt;
  if (!plan) return false;
  kernel_.within = plan->within;
  kernel_.merged = plan->merged;
  sampled_ = plan->sampled;
  state_ = kDecided;
  adopted_ = true;
  return !kernel_.whole() && (!plan->within || !plan->merged.empty());
}

InsideTimes InsideBench::round(std::span<void*> args, double ms) {
  args_ = args;
  ms_ = ms;
  InsideTimes times;
  if (state_ == kUndecided) {
    decide(times);
  } else {
    times = sampled_ ? sample_again() : split(rounds(kernel_.whole() ? ms / 10 : ms));
    if (!sampled_ && adopted_ && std::abs(times.stage_sum - 1) > kClearlyWrong) {
      kernel_.within = true;
      kernel_.merged.clear();
      mark_anew();
      decide(times);
    }
    adopted_ = false;
  }
  // Shares of marked stages are of all threads' time, in every round; sampled ones are not.
  if (options_.threads > 1 && !(sampled_ && loaded_)) {
    loaded_ = true;
    const ThreadScope scope(options_.threads);
    add_loads(times, kernel_, rounds(ms / 3, Calls::kLoads, options_.threads), options_.threads);
    times.threads_tally = tally_;
    share_loads(times);
  }
  times.node = kernel_.node;
  return times;
}

void InsideBench::decide(InsideTimes& times) {
  sampled_ = false;
  times = kernel_.whole() ? split(rounds(ms_ / 10)) : split_stages();
  if (options_.sampling && (!times.trusted() || (lost_ && kernel_.marks.size() < 2))) sample(times);
  state_ = kDecided;
  if (options_.sampling) keep_plan();
}

void InsideBench::mark_anew() {
  const Budget::Pause compiling(options_.budget);
  mark_again({&kernel_}, options_.compile);
}

bool InsideBench::asked_to_stop() const { return options_.compile.interrupt && *options_.compile.interrupt; }

InsideTimes InsideBench::split_stages() {
  const bool inner = has_inner();
  InsideTimes fine = with_marks(inner ? 2 : kAttempts);
  if (fine.trusted() || !inner) return fine;
  // Marks within the result's own stages disturb them too much: measure its operator as a whole.
  kernel_.within = false;
  lost_ = true;
  kernel_.merged.clear();
  mark_anew();
  if (kernel_.whole()) return split(rounds(ms_ / 10));
  InsideTimes coarse = with_marks(kAttempts);
  return std::abs(coarse.stage_sum - 1) < std::abs(fine.stage_sum - 1) ? coarse : fine;
}

/// Replaces the stages' shares by those of samples of the plain kernel.
void InsideBench::sample(InsideTimes& times) {
  std::string why;
  const auto shares = sampled_shares(kernel_.variants[kPlain], args_, ms_, options_.compile, why);
  if (!shares) {
    times.fallback = (times.trusted() ? "some stages are too short for marks, and there is no sampling: "
                                      : "no sampling to fall back to: ") +
                     why;
    return;
  }
  const auto told = std::count_if(shares->begin(), shares->end(),
                                  [](const SampledShare& share) { return !share.stage.empty(); });
  if (told < 2 && times.trusted()) return;  // sampling cannot separate them either
  times = split_by(*shares);
  sampled_ = true;
}

/// A further round of a kernel whose stages are sampled: nothing reads its marks.
InsideTimes InsideBench::sample_again() {
  rounds(ms_, Calls::kUnmarked);
  std::string why;
  if (const auto shares = sampled_shares(kernel_.variants[kPlain], args_, ms_, options_.compile, why))
    return split_by(*shares);
  InsideTimes times = split(rounds(ms_));
  times.fallback = "no sampling this time: " + why;
  return times;
}

/// By these shares, and the last rounds' ablations.
InsideTimes InsideBench::split_by(const std::vector<SampledShare>& shares) const {
  char reason[80] = "they are too short for marks";
  if (marked_sum_ > 0)
    std::snprintf(reason, sizeof reason, "under marks they sum to %.1f %%", marked_sum_ * 100);
  InsideTimes times = split_sampled(kernel_, last_, shares);
  times.tally = tally_;
  times.fallback = std::string("stages by sampling: ") + reason;
  return times;
}

InsideTimes InsideBench::with_marks(int attempts) {
  kernel_.merged = too_short(rounds(ms_ / 4));
  lost_ |= !kernel_.merged.empty();
  if (!kernel_.merged.empty()) mark_anew();
  auto measured = rounds(ms_);
  InsideTimes best = split(measured);
  if (options_.budget && options_.budget->spent()) attempts = 0;
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
      mark_anew();
    }
    measured = rounds(ms_);
    InsideTimes again = split(measured);
    before = sum;
    sum = again.stage_sum;
    if (std::abs(again.stage_sum - 1) < std::abs(best.stage_sum - 1)) best = std::move(again);
  }
  return best;
}

/// Whether stages of the result's own operator are marked.
bool InsideBench::has_inner() const {
  const int last = static_cast<int>(kernel_.blocks.size()) - 1;
  return std::any_of(kernel_.marks.begin(), kernel_.marks.end(),
                     [&](const MarkSite& site) { return site.block == last && !is_root(kernel_, site); });
}

InsideTimes InsideBench::split(const std::vector<InsideRound>& measured) const {
  InsideTimes times = split_inside(kernel_, measured);
  times.tally = tally_;
  return times;
}

/// Time of one call in microseconds; negative when the clock stepped. `marked`: the marks are reset before
/// the call.
double InsideBench::timed_call(size_t variant, bool marked, InsideRound& round) {
  const auto call = [&] {
    if (const int code = kernel_.variants[variant].function(args_.data()))
      throw Error(kernel_.built->func_name + " failed with code " + std::to_string(code) +
                  " while it was measured");
    return 0.0;
  };
  const std::optional<Sample> sample =
      clock_.take_unheld(call, marked ? reset_marks : std::function<void()>());
  if (sample) round.held |= sample->held;
  return sample ? sample->us : -1;
}

double InsideBench::marked_call(size_t variant, InsideRound& round) {
  const double us = timed_call(variant, true, round);
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
InsideRound InsideBench::one_round(size_t first, Calls calls) {
  InsideRound round;
  round.ablated_us.resize(calls == Calls::kLoads ? 0 : kernel_.ablated.size());
  const size_t count = kernel_.variants.size();
  for (size_t i = 0; i < count; ++i) {
    const size_t variant = (first + i) % count;
    if (variant == kPlain)
      round.plain_us = timed_call(variant, false, round);
    else if (calls == (variant == kMarked || variant == kDoubled ? Calls::kUnmarked : Calls::kLoads))
      continue;
    else if (variant == kMarked)
      round.marked_us = marked_call(variant, round);
    else if (variant == kDoubled)
      round.doubled_us = marked_call(variant, round);
    else if (variant == kTwin)
      round.twin_us = timed_call(variant, false, round);
    else
      round.ablated_us[variant - kFirstAblated] = timed_call(variant, false, round);
  }
  return round;
}

/// Measures variants in turn, repeatedly, in the same memory; returns the accepted rounds.
std::vector<InsideRound> InsideBench::rounds(double budget_ms, Calls calls, int threads) {
  std::vector<InsideRound> all;
  clock_.use(threads);
  one_round(0, calls);  // warms up caches, pages and branch predictors
  const int64_t start = monotonic_ns();
  size_t look = 2 * kMinRounds;
  // A kernel too long for its part of the budget gets a few rounds at least.
  const auto enough = [&](double ms) {
    return all.size() >= (ms > kLate * budget_ms ? kLateRounds
                          : ms > budget_ms       ? kHurriedRounds
                                                 : kMinRounds);
  };
  while (!enough(static_cast<double>(monotonic_ns() - start) / 1e6) ||
         (static_cast<double>(monotonic_ns() - start) < budget_ms * 1e6 && all.size() < kMaxRounds)) {
    if (asked_to_stop()) throw Interrupted("interrupted while measuring; nothing was written");
    all.push_back(one_round(all.size(), calls));
    if (all.size() < look) continue;
    if (uncertainty(all) < kEnough) break;
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
bool InsideBench::disturbs(const std::vector<InsideRound>& measured, size_t site) const {
  std::vector<double> visits, plain;
  for (const InsideRound& round : measured)
    visits.push_back(round.visits[site]), plain.push_back(round.plain_us);
  return median(std::move(visits)) * empty_interval_us(measured) > kCheapMarks * median(std::move(plain));
}

/// The names of stages whose visits are too short to be marked.
std::set<std::string> InsideBench::too_short(const std::vector<InsideRound>& measured) const {
  std::set<std::string> names;
  for (size_t i = 0; i < kernel_.marks.size(); ++i)
    if (!is_root(kernel_, kernel_.marks[i]) && disturbs(measured, i) &&
        us_per_visit(measured, i) < kMinIntervals * empty_interval_us(measured))
      names.insert(kernel_.marks[i].name);
  return names;
}

/// The name of the marked stage with the shortest visits, whose marks disturb most. "" when none is left.
std::string InsideBench::shortest(const std::vector<InsideRound>& measured) const {
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

}  // namespace baton
