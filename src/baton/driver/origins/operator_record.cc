#include "baton/driver/origins/operator_record.h"

#include <algorithm>

#include "baton/support/error.h"

namespace baton {
namespace {

void check_ids(const std::vector<uint32_t>& ids, size_t size, const char* what) {
  for (const uint32_t id : ids)
    if (id >= size)
      throw Error(std::string("its origins.json does not belong to its graph.json: ") + what + " " +
                  std::to_string(id) + " of " + std::to_string(size) + " is named; build it again");
}

}  // namespace

std::string OperatorRecord::place() const {
  if (line && !file.empty()) {
    const std::string here = file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(line);
    const size_t nearest = source.rfind(" > ");
    return source.empty() ? here : here + " from " + source.substr(nearest == source.npos ? 0 : nearest + 3);
  }
  if (line) return "line " + std::to_string(line);
  return source.empty() ? "operator " + std::to_string(id) : source;
}

SourceLine OperatorRecord::written() const {
  return source_line ? source_line : SourceLine{file, line, {}, text};
}

void add_fused_with(OriginReport& report) {
  std::vector<std::vector<uint32_t>> of_node;
  for (const OperatorRecord& record : report.operators)
    for (const uint32_t node : record.nodes) {
      if (node >= of_node.size()) of_node.resize(node + 1);
      of_node[node].push_back(record.id);
    }
  for (OperatorRecord& record : report.operators) {
    std::vector<uint32_t>& others = record.fused_with;
    others.clear();
    for (const uint32_t node : record.nodes)
      others.insert(others.end(), of_node[node].begin(), of_node[node].end());
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    std::erase(others, record.id);
  }
}

void check_origins(const OriginReport& report, const Plan& plan) {
  const size_t operators = report.operators.size(), nodes = plan.nodes.size();
  for (size_t i = 0; i < operators; ++i) {
    const OperatorRecord& record = report.operators[i];
    if (record.id != i)
      throw Error("its origins.json is damaged: operator " + std::to_string(record.id) + " stands at place " +
                  std::to_string(i) + "; build it again");
    check_ids(record.inputs, operators, "operator");
    check_ids(record.fused_with, operators, "operator");
    check_ids(record.nodes, nodes, "node");
    check_ids(record.folded_into, nodes, "node");
    for (const uint32_t node : record.nodes)
      if (!std::binary_search(plan.nodes[node].origins.begin(), plan.nodes[node].origins.end(), record.id))
        throw Error("its origins.json does not belong to its graph.json: node " + std::to_string(node) +
                    " does not compute operator " + std::to_string(i) + "; build it again");
  }
  for (const PlanNode& node : plan.nodes) {
    check_ids(node.origins, operators, "operator");
    check_ids(node.made_for, operators, "operator");
  }
}

}  // namespace baton
