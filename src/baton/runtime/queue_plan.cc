#include "baton/runtime/queue_plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "baton/runtime/processor.h"

namespace baton {
namespace {

/// Makes the queues and their calls, without waits.
QueuePlan calls_by_queue(const Plan& plan) {
  // By kind (the processor, devices, links) and devices.
  std::map<std::pair<int, std::pair<int, int>>, std::vector<uint32_t>> queues;
  const auto key_of = [](int a, int b) {
    const std::pair<int, int> ends = std::minmax(a, b);
    return std::pair(ends.first != ends.second ? 2 : ends.first != kProcessorKind ? 1 : 0, ends);
  };
  queues[key_of(kProcessorKind, kProcessorKind)];
  QueuePlan result;
  for (uint32_t n = 0; n < plan.nodes.size(); ++n) {
    const PlanNode& node = plan.nodes[n];
    if (node.kind != PlanNode::Kind::kKernel && node.kind != PlanNode::Kind::kCopy) continue;
    const int to = plan.entries[node.first_entry].device_type;
    const bool copies = node.kind == PlanNode::Kind::kCopy && !node.inputs.empty();
    const int from = copies ? plan.entries[node.inputs.front()].device_type : to;
    queues[key_of(from, to)].push_back(static_cast<uint32_t>(result.calls.size()));
    result.calls.push_back({.node = n, .queue = 0, .position = 0});
  }
  for (auto& [key, calls] : queues) {
    for (uint32_t i = 0; i < calls.size(); ++i) {
      result.calls[calls[i]].queue = static_cast<uint32_t>(result.queues.size());
      result.calls[calls[i]].position = i;
    }
    result.queues.push_back({key.second.first, key.second.second, std::move(calls)});
  }
  return result;
}

/// The calls that a call must come after, by the memory that they share.
class MemoryUse {
 public:
  explicit MemoryUse(const Plan& plan) : plan_(plan), uses_(plan.storages.size()) {}

  /// Descending, without repetitions.
  std::vector<uint32_t> before(uint32_t call, const PlanNode& node) {
    std::vector<uint32_t> found;
    const auto wait_for_writer = [&](const Use& use) {
      if (use.written) found.push_back(use.writer);
    };
    for (const EntryId entry : node.inputs) {
      Use& use = use_of(entry);
      wait_for_writer(use);
      use.readers.push_back(call);
    }
    for (uint32_t i = 0; i < node.num_outputs; ++i) {
      Use& use = use_of(node.first_entry + i);
      wait_for_writer(use);
      found.insert(found.end(), use.readers.begin(), use.readers.end());
      use = {.written = true, .writer = call, .readers = {}};
    }
    std::sort(found.begin(), found.end(), std::greater<>());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (!found.empty() && found.front() == call) found.erase(found.begin());  // computed in place
    return found;
  }

 private:
  struct Use {
    bool written = false;
    uint32_t writer = 0;
    std::vector<uint32_t> readers = {};  // since it was written
  };
  Use& use_of(EntryId entry) { return uses_[static_cast<size_t>(plan_.entries[entry].storage)]; }

  const Plan& plan_;
  std::vector<Use> uses_;
};

}  // namespace

QueuePlan queue_plan(const Plan& plan) {
  QueuePlan result = calls_by_queue(plan);
  MemoryUse memory(plan);
  // By call and queue: how many calls of that queue are complete when the call begins, as its queue has
  // waited for them.
  std::vector<std::vector<uint32_t>> known(result.calls.size());
  std::vector<std::vector<uint32_t>> last(result.queues.size(), std::vector<uint32_t>(result.queues.size()));
  for (uint32_t c = 0; c < result.calls.size(); ++c) {
    QueuePlan::Call& call = result.calls[c];
    std::vector<uint32_t>& here = last[call.queue];
    for (const uint32_t other : memory.before(c, plan.nodes[call.node])) {
      QueuePlan::Call& earlier = result.calls[other];
      if (earlier.queue == call.queue || here[earlier.queue] > earlier.position) continue;
      call.waits.push_back({earlier.queue, earlier.position + 1});
      if (std::find(earlier.wakes.begin(), earlier.wakes.end(), call.queue) == earlier.wakes.end())
        earlier.wakes.push_back(call.queue);
      here[earlier.queue] = earlier.position + 1;
      for (size_t q = 0; q < here.size(); ++q) here[q] = std::max(here[q], known[other][q]);
    }
    known[c] = here;
  }
  return result;
}

}  // namespace baton
