#include "baton/profile/measure.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "baton/codegen/compiler.h"
#include "baton/runtime/timers.h"
#include "baton/support/error.h"

namespace baton {

namespace {

constexpr int kWarmUpRuns = 3;
constexpr int kEnoughRuns = 1000;  // of a small model: more samples only make the report long

void require(const Status& status) {
  if (!status.ok()) throw Error(status.message);
}

void plain_run(Executor& executor, FusedTimes& times) {
  const uint64_t before = ticks();
  require(executor.run());
  times.plain_us.push_back(static_cast<double>(ticks() - before) * ns_per_tick() / 1e3);
}

void profiled_run(Executor& executor, FusedTimes& times) {
  Result<RunProfile> profile = executor.run_profiled(1);
  require(profile.status());
  times.profiled_us.push_back(profile->total_ns[0] / 1e3);
  if (times.nodes.empty()) {
    times.nodes = profile->nodes;
    times.node_us.resize(times.nodes.size());
  }
  for (size_t i = 0; i < times.nodes.size(); ++i) times.node_us[i].push_back(profile->node_ns[i][0] / 1e3);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  if (values.size() % 2) return values[middle];
  return (values[middle] + *std::max_element(values.begin(), values.begin() + middle)) / 2;
}

double coefficient_of_variation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double sum = 0, squares = 0;
  for (double v : values) sum += v;
  const double mean = sum / static_cast<double>(values.size());
  for (double v : values) squares += (v - mean) * (v - mean);
  return mean > 0 ? std::sqrt(squares / static_cast<double>(values.size() - 1)) / mean : 0;
}

FusedTimes measure_fused(Executor& executor, const MeasureOptions& options) {
  FusedTimes times;
  double load[1] = {0};
  if (getloadavg(load, 1) == 1) times.load_before = load[0];
  for (int i = 0; i < kWarmUpRuns; ++i) require(executor.run());
  const int64_t start = monotonic_ns();
  for (int run = 0;; ++run) {
    const double seconds = static_cast<double>(monotonic_ns() - start) / 1e9;
    const bool enough = run >= options.min_runs && (seconds >= options.min_seconds || run >= kEnoughRuns);
    if (run > 0 && (enough || seconds >= 10 * options.min_seconds)) break;
    if (options.interrupt && *options.interrupt) throw Interrupted("interrupted while measuring; nothing was written");
    // Both orders in turn: what comes second finds other caches and another clock than what comes first.
    if (run % 2 == 0) plain_run(executor, times);
    profiled_run(executor, times);
    if (run % 2 == 1) plain_run(executor, times);
  }
  if (!times.nodes.empty())
    times.ns_per_node = std::max(0.0, (median(times.profiled_us) - median(times.plain_us)) * 1e3 / static_cast<double>(times.nodes.size()));
  return times;
}

}  // namespace baton
