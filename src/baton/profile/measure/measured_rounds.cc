#include "baton/profile/measure/measured_rounds.h"

#include <algorithm>
#include <cstdio>

#include "baton/runtime/thread_pool.h"
#include "baton/support/require.h"

namespace baton {

namespace {

constexpr int kWarmUpRuns = 2;
constexpr double kSteadyCv = 0.03;
constexpr double kWorthSaying = 0.1;    // fraction of discarded samples that is reported
constexpr double kWorthKnowing = 0.01;  // kernels below this share of the model do not prolong measuring
constexpr size_t kFewestKept = 5;
constexpr int kLoopSamples = 8;
constexpr char kSlowCore[] = "the core was slower than usual (another virtual machine may share it)";

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

}  // namespace

void MeasuredRounds::begin_round() {
  // What the round before ran still exists: this one would get its addresses otherwise.
  if (model_.program) {
    program_ = model_.program(clock_);
  } else {
    Executor* executor = model_.executor;
    if (!rounds_.empty() && model_.another) {
      own_ = model_.another();
      if (own_) executor = own_.get();
    }
    program_ = std::make_unique<ExecutorClock>(clock_, *executor);
  }
  for (int i = 0; i < kWarmUpRuns; ++i) program_->warm_up();
  if (const std::optional<double> ns = exchange_(program_->threads())) exchange_ns_.push_back(*ns);
  Round& round = rounds_.emplace_back();
  for (RoundSamples* each : {&round.plain, &round.profiled, &round.between, &round.other}) track(*each);
  clock_.windows().resume();
  if (model_.other) other_ = model_.other();
}

/// With a series for each kernel.
std::vector<RoundSamples>& MeasuredRounds::tracked(std::vector<RoundSamples>& of_nodes) {
  if (!of_nodes.empty()) return of_nodes;
  of_nodes.resize(nodes_.size());
  for (RoundSamples& each : of_nodes) track(each);
  return of_nodes;
}

void MeasuredRounds::profiled_run(Round& round) {
  const std::optional<ProfiledSample> sample = program_->profiled_run();
  if (!sample) return;
  if (nodes_.empty()) nodes_ = sample->nodes;
  round.profiled.add(sample->whole);
  round.between.add(sample->between);
  std::vector<RoundSamples>& node = tracked(round.node);
  for (size_t i = 0; i < nodes_.size(); ++i) node[i].add(sample->kernels[i]);
}

void MeasuredRounds::pair() {
  Round& round = rounds_.back();
  const bool plain_first = pairs_++ % 2 == 0;
  if (!plain_first) profiled_run(round);
  if (const std::optional<Sample> sample = program_->run()) round.plain.add(*sample);
  if (plain_first) profiled_run(round);
  if (other_)
    if (std::optional<Sample> sample = clock_.take(other_)) {
      sample->held = false;  // its threads take turns, as those of a driver
      round.other.add(*sample);
    }
  clock_.windows().tick();
}

void MeasuredRounds::end_round() {
  other_ = nullptr;
  clock_.windows().pause();
}

bool MeasuredRounds::any() const {
  const auto has = [&](RoundSamples Round::* member) {
    return std::ranges::any_of(rounds_, [&](const Round& round) { return !(round.*member).us.empty(); });
  };
  return has(&Round::plain) && has(&Round::profiled);
}

size_t MeasuredRounds::rounds_that_count() const { return estimate(of(&Round::plain), "").rounds_us.size(); }

void MeasuredRounds::loop_short_calls() {
  Round& round = rounds_.back();
  if (calls_per_sample_.empty() && !round.node.empty())
    for (size_t i = 0; i < nodes_.size(); ++i)
      calls_per_sample_.push_back(program_->loop_of(nodes_[i], round.node[i].us));
  const ThreadScope scope(program_->threads());
  for (size_t i = 0; i < calls_per_sample_.size(); ++i) {
    const int calls = calls_per_sample_[i];
    if (calls == 1) continue;
    program_->compute_operands(nodes_[i]);
    for (int n = 0; n < kLoopSamples; ++n)
      if (const std::optional<Sample> sample = program_->calls(nodes_[i], calls))
        tracked(round.looped)[i].add(*sample);
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
    if (program_->is_simulated(nodes_[call])) {
      rounds.back().disturbed.assign(rounds.back().us.size(), false);
      rounds.back().slow = rounds.back().disturbed;
    }
  }
  leave_out_slow(rounds);
  return rounds;
}

bool MeasuredRounds::enough(size_t min_runs) const {
  if (!any() || !baton::enough(of(&Round::plain), {min_runs})) return false;
  std::vector<double> medians;
  double sum = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) sum += medians.emplace_back(estimate(of_node(i), "").us);
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (medians[i] > kWorthKnowing * sum && !baton::enough(of_node(i), {std::min(min_runs, kFewestKept)}))
      return false;
  return true;
}

/// Beside other programs hardly any run of a long model is left alone, but each of its kernels is at times.
void MeasuredRounds::complete_whole_runs(FusedTimes& times) const {
  const bool several = program_->threads() > 1;
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
  if (!any()) throw_clocks_disagree(2 * pairs_);
  FusedTimes times;
  const std::string why = clock_.reason();
  const Disturbance& sum = clock_.windows().sum();
  const int contending = contending_threads(program_->threads(), sum.others(), sum.processors);
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
  times.others_busy = sum.others();
  times.exchange_ns = exchange_ns_;
  add_notes(times, why, waited);
  return times;
}

void MeasuredRounds::add_notes(FusedTimes& times, const std::string& why, bool waited) const {
  const auto runs = static_cast<int>(2 * pairs_);
  if (std::string note = clock_.clocks().note(runs); !note.empty()) times.notes.push_back(std::move(note));
  char text[200];
  const Disturbance& sum = clock_.windows().sum();
  const size_t left_out = times.plain.left_out + times.profiled.left_out;
  size_t all = 0, held = 0, slow = 0;
  for (const Round& round : rounds_)
    for (const RoundSamples* each : {&round.plain, &round.profiled}) {
      all += each->us.size();
      held += static_cast<size_t>(std::ranges::count(each->held, true));
      slow += static_cast<size_t>(std::ranges::count(each->slow, true));
    }
  const auto loaded =
      std::ranges::count_if(times.node_times, [](const Estimate& each) { return !each.under_load.empty(); });
  if (!times.plain.under_load.empty() || loaded > 0) {
    times.notes.push_back("measured beside other programs (" + why + "): " +
                          (loaded < static_cast<std::ptrdiff_t>(nodes_.size()) ? "some times" : "times") +
                          " are those of the least disturbed runs, with a wider +-" +
                          (waited ? "" : "; --wait measures once the machine is quiet"));
  } else if (static_cast<double>(left_out) >= kWorthSaying * static_cast<double>(all)) {
    std::snprintf(text, sizeof text, "%zu of %zu runs were left out: %s%s", left_out, all,
                  slow > held ? kSlowCore : "another program took the processor",
                  sum.any() ? (", " + sum.text()).c_str() : "");
    times.notes.push_back(text);
  }
  if (slow > left_out && static_cast<double>(slow - left_out) >= kWorthSaying * static_cast<double>(all)) {
    std::snprintf(text, sizeof text, "times may be too long: in %zu of %zu runs %s", slow, all, kSlowCore);
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
