#include "baton/map/model/side_by_side.h"

#include <algorithm>

#include "baton/runtime/queue_plan.h"
#include "baton/support/error.h"

namespace baton {

PlanQueues side_by_side(const Plan& plan, std::span<const double> node_us,
                        const std::map<int, std::string>& names) {
  BATON_CHECK(node_us.size() == plan.nodes.size(), "a time for each node");
  const auto name = [&](int device) {
    const auto at = names.find(device);
    return at == names.end() ? "device " + std::to_string(device) : at->second;
  };
  const QueuePlan queues = queue_plan(plan);
  PlanQueues result;
  std::vector<PlanQueue> found;
  for (const QueuePlan::Queue& queue : queues.queues)
    found.push_back({.name = queue.is_link() ? name(queue.from) + " - " + name(queue.to) : name(queue.to)});
  for (const QueuePlan::Call& call : queues.calls) {
    PlanQueue& queue = found[call.queue];
    double begin = queue.spans.empty() ? 0 : queue.spans.back().second;
    for (const QueuePlan::Wait& wait : call.waits)
      begin = std::max(begin, found[wait.queue].spans[wait.calls - 1].second);
    const double us = node_us[call.node];
    queue.spans.emplace_back(begin, begin + us);
    const PlanNode& node = plan.nodes[call.node];
    queue.operators.push_back(node.origins.empty() ? node.made_for : node.origins);
    queue.busy_us += us;
    result.serial_us += us;
    result.latency_us = std::max(result.latency_us, begin + us);
    result.interval_us = std::max(result.interval_us, queue.busy_us);
  }
  for (PlanQueue& queue : found)
    if (!queue.spans.empty()) result.queues.push_back(std::move(queue));
  return result;
}

}  // namespace baton
