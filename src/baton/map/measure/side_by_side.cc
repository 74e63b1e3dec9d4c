#include "baton/map/measure/side_by_side.h"

#include <algorithm>

#include "baton/support/error.h"

namespace baton {

PlanQueues side_by_side(const Plan& plan, std::span<const double> node_us,
                        const std::map<int, std::string>& names) {
  BATON_CHECK(node_us.size() == plan.nodes.size(), "a time for each node");
  const auto name = [&](int device) {
    const auto at = names.find(device);
    return at == names.end() ? "device " + std::to_string(device) : at->second;
  };
  std::map<std::pair<int, int>, PlanQueue> queues;  // a device: both sides the same
  std::map<std::pair<int, int>, double> free_us;
  std::vector<double> ready_us(plan.entries.size());    // by entry: when it is computed
  std::vector<double> unused_us(plan.storages.size());  // by storage: when nobody needs what is there
  PlanQueues result;
  for (size_t n = 0; n < plan.nodes.size(); ++n) {
    const PlanNode& node = plan.nodes[n];
    if (node.kind == PlanNode::Kind::kInput) continue;
    double begin = 0;
    for (const EntryId entry : node.inputs) begin = std::max(begin, ready_us[entry]);
    if (node.kind == PlanNode::Kind::kNop) {
      for (uint32_t i = 0; i < node.num_outputs; ++i) ready_us[node.first_entry + i] = begin;
      continue;
    }
    const int to = plan.entries[node.first_entry].device_type;
    const int from = node.kind == PlanNode::Kind::kCopy && !node.inputs.empty()
                         ? plan.entries[node.inputs.front()].device_type
                         : to;
    const std::pair<int, int> key(std::min(from, to), std::max(from, to));
    for (uint32_t i = 0; i < node.num_outputs; ++i)
      begin = std::max(begin, unused_us[static_cast<size_t>(plan.entries[node.first_entry + i].storage)]);
    begin = std::max(begin, free_us[key]);
    const double end = begin + node_us[n];
    free_us[key] = end;
    const auto in_use = [&](EntryId entry) {
      double& until = unused_us[static_cast<size_t>(plan.entries[entry].storage)];
      until = std::max(until, end);
    };
    std::ranges::for_each(node.inputs, in_use);
    for (uint32_t i = 0; i < node.num_outputs; ++i) {
      ready_us[node.first_entry + i] = end;
      in_use(node.first_entry + i);
    }
    PlanQueue& queue = queues[key];
    queue.name = key.first == key.second ? name(to) : name(key.first) + " - " + name(key.second);
    queue.busy_us += node_us[n];
    queue.spans.emplace_back(begin, end);
    queue.operators.push_back(node.origins.empty() ? node.made_for : node.origins);
    result.serial_us += node_us[n];
    result.latency_us = std::max(result.latency_us, end);
    result.interval_us = std::max(result.interval_us, queue.busy_us);
  }
  for (const bool links : {false, true})
    for (auto& [key, queue] : queues)
      if ((key.first != key.second) == links) result.queues.push_back(std::move(queue));
  return result;
}

}  // namespace baton
