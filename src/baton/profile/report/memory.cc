#include "baton/profile/report/memory.h"

#include <algorithm>
#include <set>
#include <vector>

namespace baton {

namespace {

constexpr uint32_t kForever = UINT32_MAX;

/// The last node that reads each tensor; kForever for results of the model.
std::vector<uint32_t> last_readers(const Plan& plan) {
  std::vector<uint32_t> last(plan.entries.size(), 0);
  for (uint32_t node = 0; node < plan.nodes.size(); ++node) {
    const PlanNode& at = plan.nodes[node];
    for (uint32_t i = 0; i < at.num_outputs; ++i) last[at.first_entry + i] = node;
    for (const EntryId input : at.inputs) last[input] = node;
  }
  for (const EntryId head : plan.heads) last[head] = kForever;
  return last;
}

/// By node: bytes of the storages that hold a result which is still needed when it ends. Tensors that share a
/// storage, such as a reshaped one and its source, count once.
std::vector<double> live_bytes(const Plan& plan) {
  const std::vector<uint32_t> last = last_readers(plan);
  std::vector<std::vector<EntryId>> ends(plan.nodes.size());
  std::vector<std::multiset<size_t>> held(plan.storages.size());
  std::vector<double> live;
  double now = 0;
  const auto most = [](const std::multiset<size_t>& sizes) {
    return sizes.empty() ? 0.0 : static_cast<double>(*sizes.rbegin());
  };
  for (uint32_t node = 0; node < plan.nodes.size(); ++node) {
    const PlanNode& at = plan.nodes[node];
    for (uint32_t i = 0; at.kind != PlanNode::Kind::kInput && i < at.num_outputs; ++i) {
      const EntryId id = at.first_entry + i;
      std::multiset<size_t>& sizes = held[static_cast<size_t>(plan.entries[id].storage)];
      now -= most(sizes);
      sizes.insert(plan.entries[id].bytes());
      now += most(sizes);
      if (last[id] != kForever) ends[last[id]].push_back(id);
    }
    live.push_back(now);
    for (const EntryId id : ends[node]) {
      std::multiset<size_t>& sizes = held[static_cast<size_t>(plan.entries[id].storage)];
      now -= most(sizes);
      sizes.erase(sizes.find(plan.entries[id].bytes()));
      now += most(sizes);
    }
  }
  return live;
}

std::set<EntryId> constants_of(const Executor& executor) {
  const Plan& plan = executor.plan();
  std::set<uint32_t> inputs;
  for (size_t i = 0; i < executor.num_inputs(); ++i)
    if (const int node = executor.find_input_node(executor.input_node(i).name); node >= 0)
      inputs.insert(static_cast<uint32_t>(node));
  std::set<EntryId> constants;
  for (const uint32_t node : plan.arg_nodes)
    if (!inputs.contains(node)) constants.insert(plan.nodes[node].first_entry);
  return constants;
}

}  // namespace

void add_memory(ProfileReport& report, const Executor& executor) {
  const Plan& plan = executor.plan();
  MemoryUse memory;
  for (size_t i = 0; i < executor.num_inputs(); ++i)
    memory.inputs_bytes += static_cast<double>(executor.input_entry(i).bytes());
  for (const uint32_t node : plan.arg_nodes)
    memory.constants_bytes += static_cast<double>(plan.entries[plan.nodes[node].first_entry].bytes());
  memory.constants_bytes -= memory.inputs_bytes;
  memory.workspace_bytes = static_cast<double>(plan.workspace_bytes());
  const std::vector<double> live = live_bytes(plan);
  const std::set<EntryId> constants = constants_of(executor);
  std::set<EntryId> seen;
  for (KernelRow& kernel : report.kernels) {
    const PlanNode& node = plan.nodes[kernel.node];
    kernel.result_bytes = 0;
    for (uint32_t i = 0; i < node.num_outputs; ++i)
      kernel.result_bytes += static_cast<double>(plan.entries[node.first_entry + i].bytes());
    kernel.live_bytes = live[kernel.node];
    kernel.constant_bytes = 0;
    for (const EntryId input : node.inputs)
      if (constants.contains(input) && seen.insert(input).second)
        kernel.constant_bytes += static_cast<double>(plan.entries[input].bytes());
    memory.peak_bytes = std::max(memory.peak_bytes, kernel.live_bytes);
  }
  report.memory = memory;
}

}  // namespace baton
