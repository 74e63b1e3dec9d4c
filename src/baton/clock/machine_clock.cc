#include "baton/clock/machine_clock.h"

#include <algorithm>

#include "baton/runtime/processor.h"
#include "baton/runtime/thread_pool.h"

namespace baton {

MachineClock::MachineClock(SampleClock& clock, Run run, const Plan& plan, int threads, vm::MeasuredRun& all)
    : clock_(clock),
      run_(std::move(run)),
      plan_(plan),
      nodes_(plan.nodes.size()),
      simulated_(baton::is_simulated(plan)),
      devices_(std::ranges::any_of(
          plan.entries, [](const PlanEntry& entry) { return entry.device_type != kProcessorKind; })),
      threads_(threads),
      all_(all) {
  clock_.use(threads, devices_, simulated_);
}

void MachineClock::warm_up() {
  const ThreadScope scope(threads_);
  run_(nullptr);
  vm::MeasuredRun apart;
  run_(&apart);
}

std::optional<Sample> MachineClock::run(int runs, const std::function<void()>& prepare) {
  const ThreadScope scope(threads_);
  const auto run = [&] {
    if (simulated_) {
      vm::MeasuredRun alone;
      run_(&alone);
      return alone.total_ns() / 1e3;
    }
    for (int i = 0; i < runs; ++i) run_(nullptr);
    return 0.0;
  };
  return clock_.take(run, runs, prepare);
}

/// Nanoseconds so far, by node, by part, by cause of copies, and the whole.
std::vector<double> MachineClock::totals() const {
  const size_t first_copy = nodes_ + vm::kRunParts;
  std::vector<double> ns(first_copy + copies() + 1);
  if (all_.runs() == 0) return ns;
  for (const vm::MeasuredCalls& each : all_.calls()) ns.at(each.node) += each.ns;
  for (size_t part = 0; part < vm::kRunParts; ++part)
    ns[nodes_ + part] = all_.ns_of(static_cast<vm::RunPart>(part));
  for (const vm::MeasuredCopies& each : all_.copies())
    ns.at(first_copy + std::min<size_t>(each.cause, nodes_)) += each.ns;
  ns.back() = all_.total_ns();
  return ns;
}

std::optional<ProfiledSample> MachineClock::profiled_run() {
  const ThreadScope scope(threads_);
  const std::vector<double> before = totals();
  const std::optional<Sample> seen = clock_.watch([&](bool) { run_(&all_); });
  if (!seen) return std::nullopt;
  const std::vector<double> after = totals();
  ProfiledSample found{{}, {}, *seen, *seen};
  const auto us_of = [&](size_t i) { return std::max(0.0, after[i] - before[i]) / 1e3; };
  for (size_t i = 0; i + 1 < after.size(); ++i) {
    found.nodes.push_back(static_cast<uint32_t>(i));
    found.kernels.push_back(*seen);
    found.kernels.back().us = us_of(i);
  }
  found.whole.us = us_of(after.size() - 1);
  found.between.us = 0;  // control is a part
  clock_.count(found.whole.held);
  return found;
}

}  // namespace baton
