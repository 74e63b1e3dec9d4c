#include "baton/clock/program_clock.h"

#include <algorithm>

#include "baton/runtime/processor.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/require.h"

namespace baton {

namespace {

/// A counter that differs between CPUs shows as kernels that take longer than the whole run.
bool is_sound(const RunProfile& profile) {
  double sum = 0;
  for (const std::vector<double>& node : profile.node_ns) sum += node[0];
  return sum <= profile.total_ns[0] * 1.000001;
}

}  // namespace

bool is_simulated(const Plan& plan) {
  for (uint32_t node = 0; node < plan.nodes.size(); ++node)
    if (plan.is_simulated(node)) return true;
  return false;
}

ExecutorClock::ExecutorClock(SampleClock& clock, Executor& executor)
    : clock_(clock), executor_(executor), simulated_(baton::is_simulated(executor.plan())) {
  clock_.use(executor.threads(), executor.on_devices(), simulated_);
}

void ExecutorClock::warm_up() { require(executor_.run()); }

std::optional<Sample> ExecutorClock::run(int runs, const std::function<void()>& prepare) {
  const auto run = [&] {
    if (simulated_) return require(executor_.run_profiled(1)).total_ns[0] / 1e3;
    for (int i = 0; i < runs; ++i) require(executor_.run());
    return 0.0;
  };
  return clock_.take(run, runs, prepare);
}

std::optional<ProfiledSample> ExecutorClock::profiled_run() {
  RunProfile profile;
  const std::optional<Sample> seen =
      clock_.watch([&](bool gather) { profile = require(executor_.run_profiled(1, gather)); });
  if (!seen) return std::nullopt;
  if (!is_sound(profile)) return clock_.refuse(), std::nullopt;
  ProfiledSample found{profile.nodes, {}, *seen, *seen};
  found.whole.us = found.between.us = profile.total_ns[0] / 1e3;
  for (size_t i = 0; i < profile.nodes.size(); ++i) {
    Sample kernel = *seen;
    kernel.us = profile.node_ns[i][0] / 1e3;
    kernel.held = profile.held[i][0];
    kernel.computed_us = profile.computed_ns[i][0] / 1e3;
    found.whole.held |= kernel.held;
    found.between.us = std::max(0.0, found.between.us - kernel.us);
    found.kernels.push_back(kernel);
  }
  found.between.held = found.whole.held;
  clock_.count(found.whole.held);
  return found;
}

const Executor::Call* ExecutorClock::call_here(uint32_t number) const {
  const Plan& plan = executor_.plan();
  const PlanNode& node = plan.nodes[number];
  const Executor::Call* call = executor_.node_call(number);
  const bool here = call && node.kind == PlanNode::Kind::kKernel && !plan.is_simulated(number) &&
                    plan.entries[node.first_entry].device_type == kProcessorKind;
  return here ? call : nullptr;
}

void ExecutorClock::call(uint32_t node, int calls) const {
  const Executor::Call& call = *executor_.node_call(node);
  for (int n = 0; n < calls; ++n)
    if (const int code = call.function(call.context, call.args)) require(executor_.node_failed(node, code));
}

std::optional<Sample> ExecutorClock::calls(uint32_t node, int calls, const std::function<void()>& prepare) {
  return clock_.take([&] { return call(node, calls), 0.0; }, calls, prepare);
}

int ExecutorClock::loop_of(uint32_t node, const std::vector<double>& us) const {
  const double least = least_disturbed_us(us);
  return least < kLeastTimedUs && call_here(node) ? calls_per_sample(least) : 1;
}

void ExecutorClock::compute_operands(uint32_t node) {
  if (node < next_) next_ = 0;
  require(executor_.run_range(next_, node + 1));
  next_ = node + 1;
}

}  // namespace baton
