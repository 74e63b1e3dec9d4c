#include "baton/driver/origins/operator_map.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "baton/driver/plan/kernel_names.h"
#include "baton/support/diagnostic.h"
#include "baton/text/origin_label.h"

namespace baton {

OperatorMap::OperatorMap(std::shared_ptr<const Plan> plan, OriginReport report)
    : plan_(std::move(plan)), report_(std::move(report)) {
  check_origins(report_, *plan_);
  const std::vector<PlanNode>& nodes = plan_->nodes;
  inputs_.resize(nodes.size());
  readers_.resize(nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i)
    for (const EntryId entry : nodes[i].inputs) {
      const uint32_t maker = plan_->maker_of(entry);
      if (!readers_[maker].empty() && readers_[maker].back() == i) continue;  // already recorded: read twice
      inputs_[i].push_back(maker);
      readers_[maker].push_back(i);
    }
}

std::vector<uint32_t> OperatorMap::nodes_of_kernel(const std::string& name) const {
  std::vector<std::string> names;
  for (const std::string& wanted : {name, "tvmgen_default_" + name}) {  // tables omit the prefix
    std::vector<uint32_t> calls, named;
    for (uint32_t i = 0; i < plan_->nodes.size(); ++i) {
      const PlanNode& node = plan_->nodes[i];
      if (node.kind == PlanNode::Kind::kInput) continue;
      if (node.func_name == wanted) calls.push_back(i);
      if (node.name == wanted) named.push_back(i);
      names.push_back(node.name);
      names.push_back(node.func_name);
    }
    if (!calls.empty()) return calls;
    if (!named.empty()) return named;
  }
  throw UsageError("there is no kernel `" + name + "`" + similar_kernels(name, names));
}

std::optional<uint32_t> OperatorMap::namesake(const std::string& kernel) const {
  std::optional<uint32_t> named;
  bool called = false;
  for (uint32_t i = 0; i < plan_->nodes.size(); ++i) {
    const PlanNode& node = plan_->nodes[i];
    if (node.kind == PlanNode::Kind::kInput) continue;
    called |= node.func_name == kernel;
    if (node.name == kernel && node.func_name != kernel) named = i;
  }
  return called ? named : std::nullopt;
}

uint32_t OperatorMap::node(const std::string& id_or_name) const {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < plan_->nodes.size(); ++i) {
    if (plan_->nodes[i].name == id_or_name) return i;
    names.push_back(plan_->nodes[i].name);
  }
  uint32_t id = 0;
  const char* end = id_or_name.data() + id_or_name.size();
  const auto [stop, error] = std::from_chars(id_or_name.data(), end, id);
  if (stop != end || error == std::errc::invalid_argument)
    throw UsageError("there is no node `" + id_or_name + "`" + similar_kernels(id_or_name, names));
  if (error != std::errc() || id >= plan_->nodes.size())
    throw UsageError("there is no node " + id_or_name + ": graph.json has nodes 0 to " +
                     std::to_string(plan_->nodes.size() - 1));
  return id;
}

const PlanNode& OperatorMap::kernel_node(uint32_t node) const {
  if (node >= plan_->nodes.size())
    throw UsageError("there is no node " + std::to_string(node) + ": graph.json has nodes 0 to " +
                     std::to_string(plan_->nodes.size() - 1));
  const PlanNode& found = plan_->nodes[node];
  if (found.kind != PlanNode::Kind::kInput) return found;
  std::string readers;
  for (const uint32_t reader : readers_of(node))
    readers += (readers.empty() ? "" : ", ") + std::to_string(reader);
  throw UsageError("node " + std::to_string(node) + " is `" + found.name +
                   "`, an input or a constant: no kernel computes it" +
                   (readers.empty() ? "" : "; nodes that read it: " + readers));
}

std::vector<uint32_t> OperatorMap::operators_called(const std::string& wanted) const {
  std::vector<uint32_t> found;
  std::vector<std::string> names;
  for (const OperatorRecord& entry : operators()) {
    if (means_operator(wanted, {entry.op, entry.name, entry.source, entry.line, entry.column}))
      found.push_back(entry.id);
    names.push_back(entry.name);
    names.push_back(entry.op);
    names.push_back(entry.source);
  }
  if (!found.empty()) return found;
  const std::string near = did_you_mean(wanted, names);
  throw UsageError("there is no operator `" + wanted + "`" +
                   (near.empty() ? "" : "; did you mean `" + near + "`?") +
                   "\n  `baton print` shows the names (%12), `baton explain` without --operator lists all");
}

std::vector<uint32_t> OperatorMap::operators_of(const std::vector<uint32_t>& nodes) const {
  std::set<uint32_t> ids;
  for (const uint32_t node : nodes)
    ids.insert(plan_->nodes.at(node).origins.begin(), plan_->nodes.at(node).origins.end());
  return {ids.begin(), ids.end()};
}

std::vector<std::string> OperatorMap::kernels_of(uint32_t id) const {
  std::vector<std::string> names;
  for (const uint32_t node : at(id).nodes) {
    const std::string& name = plan_->nodes[node].name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

const OperatorRecord& OperatorMap::at(uint32_t id) const {
  const size_t count = operators().size();
  if (id < count) return operators()[id];
  throw UsageError(
      "there is no operator " + std::to_string(id) +
      (count == 0 ? ": the program has none" : ": the last one is " + std::to_string(count - 1)));
}

}  // namespace baton
