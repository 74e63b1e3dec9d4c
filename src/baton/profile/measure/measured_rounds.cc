#include "baton/profile/measure/measured_rounds.h"

#include <algorithm>
#include <cstdio>

#include "baton/runtime/thread_pool.h"
#include "baton/runtime/thread_reading.h"
#include "baton/runtime/timers.h"
#include "baton/support/error.h"

namespace baton {

namespace {

constexpr int kWarmUpRuns = 2;
constexpr double kSteadyCv = 0.03;
constexpr double kWorthSaying = 0.1;    // fraction of discarded samples that is reported
constexpr double kWorthKnowing = 0.01;  // kernels below this share of the model do not prolong measuring
constexpr size_t kFewestKept = 5;
// Kernels shorter than kLeastTimedUs are called in loops of about this time.
constexpr double kLoopUs = 40, kMostCalls = 4000;
constexpr int kLoopSamples = 8;
constexpr char kSlowCore[] = "the core was slower than usual (another virtual machine may share it)";
constexpr int64_t kAskEveryNs = 50'000;  // whether the core is slow: it is so for longer
constexpr double kToldSeconds = 0.25;    // shorter windows are judged together
constexpr double kMostOfTheTime = 0.7;   // of the windows disturbed: waiting for others will not help

void require(const Status& status) {
  if (!status.ok()) throw Error(status.message);
}

// A counter that differs between CPUs shows as a kernel that takes longer than the whole run.
bool is_sound(const RunProfile& profile) {
  double sum = 0;
  for (const std::vector<double>& node : profile.node_ns) sum += node[0];
  return sum <= profile.total_ns[0] * 1.000001;
}

/// The sum of the kernels and of what lies between them.
Estimate sum_of_parts(const FusedTimes& times) {
  Estimate sum;
  sum.under_load = times.plain.under_load;
  sum.left_out = times.plain.left_out;
  sum.samples_us = times.plain.samples_us;
  sum.core_ns = times.plain.core_ns;
  double half = 0;
  bool all_known = true;
  const auto add = [&](const Estimate& part) {
    sum.us += part.us;
    half += part.plus_minus_us.value_or(0);
    all_known &= part.plus_minus_us.has_value();
    if (sum.rounds_us.size() < part.rounds_us.size()) sum.rounds_us.resize(part.rounds_us.size());
    for (size_t i = 0; i < sum.rounds_us.size(); ++i)
      sum.rounds_us[i] += i < part.rounds_us.size() ? part.rounds_us[i] : part.us;
  };
  add(times.between);
  for (const Estimate& node : times.node_times) add(node);
  if (all_known) sum.plus_minus_us = half;
  return sum;
}

/// So many calls that reading the clock is less than a thousandth of a sample.
int calls_in(double us) {
  return static_cast<int>(std::clamp(kLoopUs / std::max(us, 1e-3), 2.0, kMostCalls));
}

size_t kept(const std::vector<RoundSamples>& rounds) {
  size_t count = 0;
  for (const RoundSamples& round : rounds)
    count += static_cast<size_t>(std::count(round.disturbed.begin(), round.disturbed.end(), false));
  return count;
}

bool any_slow(const std::vector<RoundSamples>& rounds) {
  return std::ranges::any_of(rounds, [](const RoundSamples& round) {
    for (size_t i = 0; i < round.us.size(); ++i)
      if (round.slow[i] && !round.disturbed[i]) return true;
    return false;
  });
}

}  // namespace

void MeasuredRounds::begin_round() {
  executor_ = model_.executor;
  if (!rounds_.empty() && model_.another) {
    // While the one before still exists: it would get its addresses otherwise.
    own_ = model_.another();
    if (own_) executor_ = own_.get();
  }
  simulated_ = is_simulated();
  for (int i = 0; i < kWarmUpRuns; ++i) require(executor_->run());
  if (const std::optional<double> ns = exchange_(executor_->threads())) exchange_ns_.push_back(*ns);
  rounds_.emplace_back();
  rounds_.back().node.resize(nodes_.size());
  window_plain_ = window_profiled_ = window_other_ = 0;
  if (model_.other) other_ = model_.other();
}

/// With simulated devices, a run takes as long as a profiled one says: only that asks their clocks.
void MeasuredRounds::plain_run(Round& round) {
  const bool several = executor_->threads() > 1;
  bool slow = is_slow();
  const ThreadReading before = read_thread(several);
  watch_.begin();
  double simulated_us = 0;
  Status status = Status::success();
  if (simulated_) {
    const Result<RunProfile> profile = executor_->run_profiled(1);
    status = profile.status();
    if (status.ok()) simulated_us = profile->total_ns[0] / 1e3;
  } else {
    status = executor_->run();
  }
  std::optional<double> us = watch_.end();
  // Threads of a device's driver take turns with ours: their switches are no sign of other programs.
  const ThreadReading after = read_thread(several);
  const bool held = !executor_->on_devices() && was_held(before, after, several);
  slow = slow || is_slow();
  require(status);
  if (us && simulated_) us = simulated_us;
  if (!us) return;
  const bool parted = held && !simulated_;
  round.plain.add(*us, held, slow, parted ? computed_ns(before, after, executor_->threads()) / 1e3 : 0,
                  core_.filled_ns);
  held_ += held;
  slow_ += slow;
  ++plain_runs_;
}

void MeasuredRounds::profiled_run(Round& round) {
  bool slow = is_slow();
  watch_.begin();
  // Every other time: what the caches hold is lost while the threads wait for each other, which costs kernels
  // that only move data more than a thread that is away.
  const bool gather = executor_->threads() > 1 && pairs_ % 2 == 0 && always_disturbed();
  Result<RunProfile> profile = executor_->run_profiled(1, gather);
  const std::optional<double> us = watch_.end();
  slow = slow || is_slow();
  require(profile.status());
  if (!us) return;
  if (!is_sound(*profile)) return watch_.refuse();
  if (nodes_.empty()) {
    nodes_ = profile->nodes;
    round.node.resize(nodes_.size());
  }
  bool any_held = false;
  double sum = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const bool held = profile->held[i][0];
    any_held |= held;
    sum += profile->node_ns[i][0] / 1e3;
    round.node[i].add(profile->node_ns[i][0] / 1e3, held, slow, profile->computed_ns[i][0] / 1e3,
                      core_.filled_ns);
  }
  const double total = profile->total_ns[0] / 1e3;
  round.profiled.add(total, any_held, slow, 0, core_.filled_ns);
  round.between.add(std::max(0.0, total - sum), any_held, slow, 0, core_.filled_ns);
  held_ += any_held;
  slow_ += slow;
  ++profiled_runs_;
}

bool MeasuredRounds::is_slow() {
  if (simulated_) return false;
  // The loop takes longer than a small model.
  if (const int64_t now = monotonic_ns(); now - asked_ns_ > kAskEveryNs) {
    core_ = core_is_slow_();
    asked_ns_ = monotonic_ns();
  }
  return core_.slow;
}

void MeasuredRounds::other_run(Round& round) {
  const bool slow = is_slow();
  watch_.begin();
  const double us = other_();
  // Its threads take turns, as those of a driver.
  if (!watch_.end()) return;
  const bool slow_then = is_slow();
  round.other.add(us, false, slow || slow_then, 0, core_.filled_ns);
}

bool MeasuredRounds::is_simulated() const {
  const Plan& plan = executor_->plan();
  return std::ranges::any_of(plan.storages, [](const PlanStorage& storage) {
    return storage.device_type >= BATON_FIRST_SIMULATED_KIND;
  });
}

void MeasuredRounds::pair() {
  Round& round = rounds_.back();
  const bool plain_first = pairs_++ % 2 == 0;
  if (plain_first) plain_run(round);
  profiled_run(round);
  if (!plain_first) plain_run(round);
  if (other_) other_run(round);
}

void MeasuredRounds::end_window(const Disturbance& what) {
  sum_ += what;
  unjudged_sum_ += what;
  unjudged_.push_back({rounds_.size() - 1, window_plain_, window_profiled_, window_other_});
  window_plain_ = rounds_.back().plain.us.size();
  window_profiled_ = rounds_.back().profiled.us.size();
  window_other_ = rounds_.back().other.us.size();
  if (unjudged_sum_.seconds >= kToldSeconds || unjudged_sum_.by_quota()) judge();
}

void MeasuredRounds::judge() {
  if (unjudged_sum_.any()) {
    disturbed_s_ += unjudged_sum_.seconds;
    for (const Unjudged& window : unjudged_) {
      Round& round = rounds_[window.round];
      round.plain.disturb_from(window.plain);
      round.profiled.disturb_from(window.profiled);
      round.other.disturb_from(window.other);
      round.between.disturb_from(window.profiled);
      for (RoundSamples& node : round.node) node.disturb_from(window.profiled);
      // Loops end a round: its last window's verdict, or an earlier one's, is theirs too.
      for (RoundSamples& node : round.looped) node.disturb_from(0);
    }
  }
  unjudged_.clear();
  unjudged_sum_ = {};
}

void MeasuredRounds::loop_short_calls() {
  if (nodes_.empty()) return;
  Round& round = rounds_.back();
  if (calls_per_sample_.empty()) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const double us = median(round.node[i].us);
      const bool one_function = executor_->node_function(nodes_[i]) != nullptr;
      calls_per_sample_.push_back(us >= kLeastTimedUs || !one_function ? 1 : calls_in(us));
    }
  }
  round.looped.resize(nodes_.size());
  const ThreadScope scope(executor_->threads());
  const bool several = executor_->threads() > 1;
  uint32_t next = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const int calls = calls_per_sample_[i];
    if (calls == 1) continue;
    // Its inputs are those of the model: their storage may have been reused since.
    require(executor_->run_range(next, nodes_[i] + 1));
    next = nodes_[i] + 1;
    const Executor::Call& call = *executor_->node_call(nodes_[i]);
    for (int sample = 0; sample < kLoopSamples; ++sample) {
      const bool slow = is_slow();
      const ThreadReading before = read_thread(several);
      const uint64_t start = fenced_ticks();
      for (int n = 0; n < calls; ++n)
        if (call.function(call.context, call.args)) return;  // run() reports it
      const double ns = static_cast<double>(fenced_ticks() - start) * ns_per_tick();
      const bool held = was_held(before, read_thread(several), several);
      const bool slow_then = is_slow();
      round.looped[i].add(ns / 1e3 / calls, held, slow || slow_then, 0, core_.filled_ns);
    }
  }
}

std::vector<RoundSamples> MeasuredRounds::of(RoundSamples Round::* member) const {
  std::vector<RoundSamples> rounds;
  for (const Round& round : rounds_) rounds.push_back(round.*member);
  leave_out_slow(rounds);
  return rounds;
}

std::vector<RoundSamples> MeasuredRounds::of_node(size_t call) const {
  std::vector<RoundSamples> rounds;
  const bool looped = call < calls_per_sample_.size() && calls_per_sample_[call] > 1;
  for (const Round& round : rounds_) {
    const std::vector<RoundSamples>& node = looped ? round.looped : round.node;
    if (call >= node.size()) continue;
    rounds.push_back(node[call]);
    // What other programs do to this machine does not change a simulated time.
    if (executor_->plan().is_simulated(nodes_[call])) {
      rounds.back().disturbed.assign(rounds.back().us.size(), false);
      rounds.back().slow = rounds.back().disturbed;
    }
  }
  leave_out_slow(rounds);
  return rounds;
}

std::string MeasuredRounds::reason() const {
  if (const std::string text = sum_.text(); !text.empty()) return text;
  char text[160];
  std::snprintf(text, sizeof text, "another program took the processor in %zu of %zu runs", held_,
                plain_runs_ + profiled_runs_);
  return text;
}

bool MeasuredRounds::always_disturbed() const {
  return disturbed_s_ > kMostOfTheTime * (sum_.seconds - unjudged_sum_.seconds);
}

bool MeasuredRounds::enough(size_t min_runs) const {
  const std::vector<RoundSamples> plain = of(&Round::plain);
  if (!any() || kept(plain) < min_runs || any_slow(plain)) return false;
  std::vector<double> medians;
  double sum = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) sum += medians.emplace_back(estimate(of_node(i), "").us);
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (medians[i] > kWorthKnowing * sum && kept(of_node(i)) < std::min(min_runs, kFewestKept)) return false;
  return true;
}

/// Beside other programs hardly any run of a long model is left alone, but each of its kernels is at times.
void MeasuredRounds::complete_whole_runs(FusedTimes& times) const {
  const bool several = executor_->threads() > 1;
  if (times.plain.under_load.empty() || !(times.plain.interrupted || several) || times.node_times.empty())
    return;
  const Estimate sum = sum_of_parts(times);
  // On several threads a run may seem to be left alone, with a thread away all the time.
  if (!times.plain.interrupted && sum.us >= times.plain.us) return;
  times.plain = sum;
  times.profiled = sum;
  times.profiled_us = {sum.us};
  times.ns_per_node = 0;
}

FusedTimes MeasuredRounds::result(bool waited) const {
  const auto runs = static_cast<int>(2 * pairs_);
  if (!any())
    throw Error("no run of " + std::to_string(runs) +
                " could be timed: this machine's time stamp counter and its monotonic clock disagree by "
                "more than 0.1 %; /sys/devices/system/clocksource/clocksource0/current_clocksource names "
                "what the system trusts");
  FusedTimes times;
  const std::string why = reason();
  const int contending = contending_threads(executor_->threads(), sum_.others(), sum_.processors);
  times.plain = estimate(of(&Round::plain), why, contending);
  times.profiled = estimate(of(&Round::profiled), why, contending);
  times.between = estimate(of(&Round::between), why, contending);
  if (model_.other) times.other = estimate(of(&Round::other), why);
  times.plain_us = times.plain.samples_us;
  times.profiled_us = times.profiled.samples_us;
  times.nodes = nodes_;
  times.calls_per_sample = calls_per_sample_;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    times.node_times.push_back(estimate(of_node(i), why, contending));
    times.node_us.push_back(times.node_times.back().samples_us);
  }
  if (!nodes_.empty())
    times.ns_per_node =
        std::max(0.0, (times.profiled.us - times.plain.us) * 1e3 / static_cast<double>(nodes_.size()));
  complete_whole_runs(times);
  times.others_busy = sum_.others();
  times.exchange_ns = exchange_ns_;
  add_notes(times, why, waited);
  return times;
}

void MeasuredRounds::add_notes(FusedTimes& times, const std::string& why, bool waited) const {
  const auto runs = static_cast<int>(2 * pairs_);
  if (std::string note = watch_.note(runs); !note.empty()) times.notes.push_back(std::move(note));
  char text[200];
  const size_t left_out = times.plain.left_out + times.profiled.left_out, all = plain_runs_ + profiled_runs_;
  const auto loaded =
      std::ranges::count_if(times.node_times, [](const Estimate& each) { return !each.under_load.empty(); });
  if (!times.plain.under_load.empty() || loaded > 0) {
    times.notes.push_back("measured beside other programs (" + why + "): " +
                          (loaded < static_cast<std::ptrdiff_t>(nodes_.size()) ? "some times" : "times") +
                          " are those of the least disturbed runs, with a wider +-" +
                          (waited ? "" : "; --wait measures once the machine is quiet"));
  } else if (static_cast<double>(left_out) >= kWorthSaying * static_cast<double>(all)) {
    std::snprintf(text, sizeof text, "%zu of %zu runs were left out: %s%s", left_out, all,
                  slow_ > held_ ? kSlowCore : "another program took the processor",
                  sum_.any() ? (", " + sum_.text()).c_str() : "");
    times.notes.push_back(text);
  }
  if (slow_ > left_out && static_cast<double>(slow_ - left_out) >= kWorthSaying * static_cast<double>(all)) {
    std::snprintf(text, sizeof text, "times may be too long: in %zu of %zu runs %s", slow_, all, kSlowCore);
    times.notes.push_back(text);
  }
  if (!exchange_ns_.empty()) {
    const auto [least, most] = std::ranges::minmax(exchange_ns_);
    if (distances_differ(least, most)) {
      std::snprintf(
          text, sizeof text,
          "the system moved the processors: a cache line went to another and back in %.0f to %.0f ns; "
          "kernels on several threads differ by it",
          least, most);
      times.notes.push_back(text);
    }
  }
  const double cv = coefficient_of_variation(times.plain_us);
  if (cv > kSteadyCv && times.plain.under_load.empty()) {
    std::snprintf(text, sizeof text, "runs vary by %.1f %% (standard deviation)%s", cv * 100,
                  waited ? "" : ": --wait measures once the machine is quiet");
    times.notes.push_back(text);
  }
}

}  // namespace baton
