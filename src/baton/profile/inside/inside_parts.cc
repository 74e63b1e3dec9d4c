#include "baton/profile/inside/inside_parts.h"

#include <algorithm>
#include <numeric>

#include "baton/clock/sample_clock.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/require.h"

namespace baton {
namespace {

constexpr size_t kFewestSamples = 5;
constexpr int kMostSamples = 1000;
constexpr const char* kBetween = "between steps";

/// Shares of one kernel in one round: medians over its samples. The last is what lies between parts.
struct PartsRound {
  std::vector<double> shares;
  double sum = 0, plain_us = 0;
};

class RegionParts {
 public:
  RegionParts(const BuiltKernel& built, std::vector<KernelPart> parts)
      : built_(built), parts_(std::move(parts)) {}

  void round(Executor& executor, double ms) {
    require(executor.run_range(0, built_.first_node + 1));  // its operands
    const Executor::Call& call = *executor.node_call(built_.first_node);
    std::vector<std::vector<double>> shares(parts_.size() + 1);
    std::vector<double> sums, plain;
    SampleClock clock({});
    clock.use(executor.threads(), executor.on_devices());
    const auto run = [&] {
      const ThreadScope scope(executor.threads());
      if (call.function(call.context, call.args)) throw Error("kernel `" + built_.func_name + "` failed");
      return 0.0;
    };
    const int64_t begin = monotonic_ns();
    for (int i = 0; i < kMostSamples; ++i) {
      if (plain.size() >= kFewestSamples && static_cast<double>(monotonic_ns() - begin) > ms * 1e6) break;
      const std::optional<Sample> sample = clock.take_unheld(run);
      if (!sample) continue;
      const double plain_ns = sample->us * 1e3;
      const std::vector<double> ns = require(executor.run_parts(built_.first_node));
      double rest = ns.back();
      for (size_t part = 0; part < parts_.size(); ++part) {
        shares[part].push_back(ns[part] / plain_ns);
        rest -= ns[part];
      }
      shares.back().push_back(std::max(0.0, rest) / plain_ns);
      sums.push_back(ns.back() / plain_ns);
      plain.push_back(sample->us);
    }
    if (plain.empty()) throw_clocks_disagree(kMostSamples);
    PartsRound& made = rounds_.emplace_back();
    for (std::vector<double>& each : shares) made.shares.push_back(median(std::move(each)));
    made.sum = median(std::move(sums));
    made.plain_us = median(std::move(plain));
  }

  bool any() const { return !rounds_.empty(); }
  uint32_t node() const { return built_.first_node; }
  const std::string& name() const { return built_.func_name; }

  InsideTimes times(const std::string& under_load) const {
    InsideTimes times;
    for (size_t part = 0; part <= parts_.size(); ++part) {
      std::vector<double> shares;
      for (const PartsRound& round : rounds_) shares.push_back(round.shares[part]);
      InsidePart& made = times.parts.emplace_back();
      made.method = InsideMethod::kParts;
      made.plus_minus = rounds_interval(shares);
      made.share = median(std::move(shares));
      made.stage = kBetween;
      if (part == parts_.size()) break;
      const KernelPart& of = parts_[part];
      made.stage = of.name;
      made.implementation = of.implementation;
      made.layouts = of.layouts;
      made.reason = of.reason;
      const auto& steps = built_.kernel->steps;
      if (of.step >= 0 && static_cast<size_t>(of.step) < steps.size())
        made.blocks = steps[static_cast<size_t>(of.step)];
    }
    std::vector<double> sums, plain;
    for (const PartsRound& round : rounds_) sums.push_back(round.sum), plain.push_back(round.plain_us);
    times.stage_sum = median(std::move(sums));
    times.plain_us = median(std::move(plain));
    times.node = built_.first_node;
    times.rounds = rounds_.size();
    times.tally.measured = rounds_.size();
    times.under_load = under_load;
    return times;
  }

 private:
  const BuiltKernel& built_;
  const std::vector<KernelPart> parts_;
  std::vector<PartsRound> rounds_;
};

}  // namespace

std::map<std::string, InsideTimes> measure_parts(const BuildResult& built, Executor& executor,
                                                 const InsideOptions& options) {
  std::vector<RegionParts> regions;
  for (const BuiltKernel& kernel : built.kernels) {
    if (built.plan.graph->nodes[kernel.first_node].backend.empty()) continue;
    std::vector<KernelPart> parts = require(executor.node_parts(kernel.first_node));
    if (!parts.empty()) regions.emplace_back(kernel, std::move(parts));
  }
  if (regions.empty()) return {};
  Disturbance disturbed;
  for (int round = 0; round < std::max(1, options.rounds); ++round) {
    const std::shared_ptr<Executor> own = round > 0 && options.another ? options.another() : nullptr;
    const SystemReading before = options.system();
    for (RegionParts& region : regions) {
      if (options.compile.interrupt && *options.compile.interrupt) break;
      const double left_ms = options.budget ? options.budget->left() * 1e3 : options.ms_per_kernel;
      if (left_ms <= 0 && region.any()) continue;
      const auto left_rounds = static_cast<double>(std::max(1, options.rounds) - round);
      region.round(own ? *own : executor,
                   std::min(options.ms_per_kernel / std::max(1, options.rounds),
                            left_ms / left_rounds / static_cast<double>(regions.size())));
    }
    disturbed += disturbance(before, options.system());
  }
  std::map<std::string, InsideTimes> result;
  for (const RegionParts& region : regions)
    if (region.any()) result[region.name()] = region.times(disturbed.text());
  return result;
}

}  // namespace baton
