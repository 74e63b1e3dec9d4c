#include "baton/runner/sampler.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "baton/profile/conditions/estimate.h"
#include "baton/runtime/thread_reading.h"
#include "baton/runtime/timers.h"
#include "baton/support/require.h"

namespace baton {
namespace {

// /proc/stat counts in steps of 10 ms: shorter windows cannot be judged (note 0018).
constexpr double kWindowS = 0.3, kShortestWindowS = 0.25;
constexpr double kSampleUs = 100;                         // hot calls that are shorter are timed together
constexpr double kMostCalls = 4000;                       // of one sample
constexpr double kTurnS = 0.05;                           // of one phase before the next one's
constexpr size_t kMostSamples = 3000, kSufficient = 200;  // the latter when they are steady
constexpr size_t kKeptOfDisturbed = 10;                   // of a window: they show what it did

double seconds_since(int64_t since_ns) { return static_cast<double>(monotonic_ns() - since_ns) / 1e9; }

std::vector<double> undisturbed(const std::vector<double>& us, const std::vector<bool>& disturbed) {
  std::vector<double> kept;
  for (size_t i = 0; i < us.size(); ++i)
    if (!disturbed[i]) kept.push_back(us[i]);
  return kept;
}

}  // namespace

Sampler::Sampler(Executor& executor, const Protocol& protocol, const DeviceSheet& sheet, SystemSource system)
    : executor_(executor),
      protocol_(protocol),
      system_(std::move(system)),
      watch_(Clocks::of_this_machine()),
      several_(executor.threads() > 1) {
  for (const CacheState cache : protocol.caches) {
    if (cache == CacheState::kInModel)
      throw Error("a whole program cannot be measured as it runs in a model: ask for its nodes");
    phases_.push_back({cache, 1, {}, {}});
  }
  if (protocol.nodes) phases_.push_back({CacheState::kInModel, 1, {}, {}});
  const Plan& plan = executor.plan();
  for (uint32_t node = 0; node < plan.nodes.size(); ++node)
    simulated_ = simulated_ || plan.is_simulated(node);
  if (std::ranges::find(protocol.caches, CacheState::kFlushed) != protocol.caches.end())
    evictor_ = std::make_unique<Evictor>(
        executor, static_cast<size_t>(std::max({sheet.l1_bytes, sheet.l2_bytes, sheet.l3_bytes})));
}

std::vector<JobRow> Sampler::run() {
  double load[1] = {0};
  load_ = getloadavg(load, 1) == 1 ? load[0] : 0;
  warm_up();
  window_ = system_();
  const int64_t begin = window_begin_ns_ = monotonic_ns();
  while (true) {
    for (Phase& phase : phases_) add_samples(phase);
    const bool late = seconds_since(begin) >= protocol_.max_seconds;
    const double window_s = seconds_since(window_begin_ns_);
    if (late || window_s >= kWindowS || (all_enough() && window_s >= kShortestWindowS)) {
      judge();
      if (late || all_enough()) break;
    } else if (all_enough() && std::ranges::all_of(phases_, [](const Phase& phase) {
                 return phase.whole.us.size() >= kSufficient;
               })) {
      // The rest of a window that is long enough to be judged.
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  std::vector<JobRow> rows;
  for (const Phase& phase : phases_) {
    if (phase.whole.us.empty())
      throw Error(
          "no run could be timed: this machine's time stamp counter and its monotonic clock disagree");
    if (phase.cache != CacheState::kInModel) rows.push_back(row_of(phase, phase.whole));
    for (const Series& node : phase.nodes) rows.push_back(row_of(phase, node));
  }
  return rows;
}

void Sampler::warm_up() {
  const int64_t begin = monotonic_ns();
  std::vector<double> us;
  do {
    us.push_back(timed_run());
  } while (us.size() < 3 || (seconds_since(begin) < protocol_.warm_up_s && us.size() < 1000));
  usual_us_ = median(std::move(us));
  for (Phase& phase : phases_)
    if (phase.cache == CacheState::kHot && !simulated_ && usual_us_ < kSampleUs)
      phase.calls =
          static_cast<int>(std::clamp(std::ceil(kSampleUs / std::max(usual_us_, 0.01)), 1.0, kMostCalls));
}

/// Microseconds of one call, on the clock of the simulated devices if there are such.
double Sampler::timed_run() {
  const uint64_t start = ticks();
  if (simulated_) return require(executor_.run_profiled(1)).total_ns[0] / 1e3;
  require(executor_.run());
  return static_cast<double>(ticks() - start) * ns_per_tick() / 1e3;
}

/// A fraction of the samples that are needed: the phases take turns, so that what drifts meets all of them.
void Sampler::add_samples(Phase& phase) {
  if (phase.whole.us.size() >= kMostSamples || (phase.whole.us.size() >= kSufficient && enough(phase)))
    return;
  const int64_t begin = monotonic_ns();
  const int count = std::max(1, (protocol_.min_samples + 3) / 4);
  if (phase.cache != CacheState::kFlushed) require(executor_.run());  // the phase before left other caches
  for (int i = 0; i < count && (i == 0 || seconds_since(begin) < kTurnS); ++i) {
    if (phase.cache == CacheState::kInModel)
      sample_nodes(phase);
    else
      sample(phase, phase.calls);
  }
}

void Sampler::sample(Phase& phase, int calls) {
  if (phase.cache == CacheState::kFlushed) evictor_->evict();
  const ThreadReading before = read_thread(several_);
  double simulated_us = 0;
  watch_.begin();
  for (int call = 0; call < calls; ++call) {
    if (simulated_)
      simulated_us += require(executor_.run_profiled(1)).total_ns[0] / 1e3;
    else
      require(executor_.run());
  }
  std::optional<double> us = watch_.end();
  // Threads of a device's driver take turns with ours: their switches are no sign of other programs.
  const bool held = !executor_.on_devices() && was_held(before, read_thread(several_), several_);
  if (us && simulated_) us = simulated_us;
  if (!us) return;
  phase.whole.us.push_back(*us / calls);
  phase.whole.disturbed.push_back(held);
}

void Sampler::sample_nodes(Phase& phase) {
  watch_.begin();
  const RunProfile profile = require(executor_.run_profiled(1));
  if (!watch_.end()) return;
  if (phase.nodes.empty())
    for (const uint32_t node : profile.nodes)
      phase.nodes.push_back({executor_.plan().nodes[node].name, {}, {}, 0});
  bool any_held = false;
  for (size_t i = 0; i < phase.nodes.size(); ++i) {
    const bool held = profile.held[i][0];
    any_held |= held;
    phase.nodes[i].us.push_back(profile.node_ns[i][0] / 1e3);
    phase.nodes[i].disturbed.push_back(held);
  }
  phase.whole.us.push_back(profile.total_ns[0] / 1e3);
  phase.whole.disturbed.push_back(any_held);
}

bool Sampler::enough(const Phase& phase) const {
  const std::vector<double> kept = undisturbed(phase.whole.us, phase.whole.disturbed);
  return kept.size() >= static_cast<size_t>(protocol_.min_samples) &&
         (coefficient_of_variation(kept) <= protocol_.cv || phase.whole.us.size() >= kMostSamples);
}

bool Sampler::all_enough() const {
  return std::ranges::all_of(
      phases_, [&](const Phase& phase) { return enough(phase) || phase.whole.us.size() >= kMostSamples; });
}

/// All samples since the last verdict were taken under what happened since.
void Sampler::judge() {
  const SystemReading now = system_();
  const Disturbance found = disturbance(window_, now);
  sum_ += found;
  const auto mark = [&](Series& series) {
    // What other programs do to this machine does not change a simulated time.
    if (found.any() && !simulated_)
      std::fill(series.disturbed.begin() + static_cast<ptrdiff_t>(series.judged), series.disturbed.end(),
                true);
    series.judged = series.disturbed.size();
  };
  for (Phase& phase : phases_) {
    mark(phase.whole);
    for (Series& node : phase.nodes) mark(node);
  }
  window_ = now;
  window_begin_ns_ = monotonic_ns();
}

JobRow Sampler::row_of(const Phase& phase, const Series& series) const {
  JobRow row{series.node, phase.cache, series.us, {}, phase.calls, load_, sum_.others()};
  for (uint32_t i = 0; i < series.disturbed.size(); ++i)
    if (series.disturbed[i]) row.disturbed.push_back(i);
  return row;
}

}  // namespace baton
