#include "baton/profile/foreign/by_node.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <unordered_map>

#include "baton/profile/report/portions.h"
#include "baton/support/base/statistics.h"
#include "baton/support/version.h"

namespace baton {

namespace {

constexpr double kShown = 0.002;  // of a run

/// Sets of nodes that grow together.
class Sets {
 public:
  explicit Sets(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  uint32_t find(uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  void unite(const std::vector<uint32_t>& nodes) {
    for (const uint32_t each : nodes) parent_[find(each)] = find(nodes.front());
  }

 private:
  std::vector<uint32_t> parent_;
};

/// One engine's step: the nodes that it cannot tell apart, and its time.
struct Step {
  std::string name, op;
  std::vector<uint32_t> nodes;
  double us = 0;
};

struct Steps {
  EngineColumn column;
  std::vector<Step> steps;
};

/// Baton's kernels are split by what was measured inside them: then each operator is a step of its own.
Steps steps_of(const ProfileReport& ours, const std::vector<onnx::SourceNode>& nodes,
               std::vector<double>& own_us) {
  std::unordered_map<std::string_view, uint32_t> by_label;
  for (uint32_t i = 0; i < nodes.size(); ++i) by_label.try_emplace(nodes[i].label, i);
  const auto nodes_of = [&](const std::vector<uint32_t>& ids) {
    std::vector<uint32_t> found;
    for (const uint32_t id : ids)
      if (const auto at = by_label.find(ours.operators.at(id).source); at != by_label.end())
        found.push_back(at->second);
    return found;
  };
  Steps all{{"baton", std::string(version()), ours.end_to_end_us, ours.sum_us, 0, {}}, {}};
  for (const KernelRow& kernel : ours.kernels) {
    const std::vector<Portion> parts = portions(kernel);
    double split = 0;
    for (const Portion& part : parts)
      if (part.id) split += part.share;
    const bool is_split = split > 0 && std::ranges::none_of(parts, [](const Portion& part) {
                            return part.by == PortionBy::kEqual;
                          });
    if (!is_split) {
      all.steps.push_back({kernel.title, kernel.reason,
                           nodes_of(kernel.origins.empty() ? kernel.made_for : kernel.origins),
                           kernel.median_us});
      continue;
    }
    // Loads, stores and loop control belong to the operators as their own work does.
    for (const Portion& part : parts)
      if (part.id)
        all.steps.push_back({kernel.title, "", nodes_of({*part.id}), kernel.median_us * part.share / split});
  }
  own_us.assign(nodes.size(), 0);
  for (const Step& step : all.steps)
    for (const uint32_t node : step.nodes) own_us[node] += step.us / static_cast<double>(step.nodes.size());
  return all;
}

Steps steps_of(const EngineProfile& profile, const std::vector<onnx::SourceNode>& nodes) {
  Steps all{{profile.engine, profile.version, 0, 0, 0, {}}, {}};
  const std::vector<JoinedRow> joined = join(profile, nodes);
  for (size_t i = 0; i < joined.size(); ++i) {
    const EngineRow& row = profile.rows[i];
    all.steps.push_back({row.name, row.op, joined[i].nodes.empty() ? joined[i].made_for : joined[i].nodes,
                         median(row.samples_us)});
    all.column.sum_us += all.steps.back().us;
  }
  all.column.end_to_end_us = profile.runs_us.empty() ? all.column.sum_us : median(profile.runs_us);
  return all;
}

/// "n136 .. n142: Conv, BatchNormalization, Add"; of a single node "n3: MaxPool".
std::string text_of(const NodesRow& row, const std::vector<onnx::SourceNode>& nodes) {
  std::vector<std::string> ops;
  for (const uint32_t node : row.nodes)
    if (std::ranges::find(ops, nodes[node].op) == ops.end()) ops.push_back(nodes[node].op);
  std::string text = nodes[row.nodes.front()].label;
  if (row.nodes.size() > 1) text += " .. " + nodes[row.nodes.back()].label;
  for (size_t i = 0; i < ops.size(); ++i) text += (i ? ", " : ": ") + ops[i];
  return text;
}

}  // namespace

ByNode by_node(std::vector<onnx::SourceNode> nodes, const ProfileReport& ours,
               const std::vector<EngineProfile>& others) {
  ByNode result;
  std::vector<Steps> engines{steps_of(ours, nodes, result.own_us)};
  for (const EngineProfile& each : others) engines.push_back(steps_of(each, nodes));
  Sets sets(nodes.size());
  for (const Steps& engine : engines)
    for (const Step& step : engine.steps)
      if (!step.nodes.empty()) sets.unite(step.nodes);
  std::map<uint32_t, NodesRow> rows;
  for (size_t i = 0; i < engines.size(); ++i) {
    EngineColumn& column = engines[i].column;
    for (const Step& step : engines[i].steps) {
      if (step.nodes.empty()) {
        column.unjoined.push_back({step.name, step.op, step.us});
        continue;
      }
      NodesRow& row = rows[sets.find(step.nodes.front())];
      row.us.resize(engines.size());
      row.us[i] += step.us;
      column.joined_us += step.us;
    }
    std::ranges::sort(column.unjoined, std::greater<>(), &EngineColumn::Unjoined::us);
    result.engines.push_back(std::move(column));
  }
  for (uint32_t node = 0; node < nodes.size(); ++node)
    if (const auto at = rows.find(sets.find(node)); at != rows.end()) at->second.nodes.push_back(node);
  for (auto& [root, row] : rows) result.rows.push_back(std::move(row));
  std::ranges::stable_sort(result.rows, std::greater<>(),
                           [](const NodesRow& row) { return *std::ranges::max_element(row.us); });
  result.nodes = std::move(nodes);
  return result;
}

Json ByNode::json() const {
  Json all{{"engines", Json::array()}, {"rows", Json::array()}, {"nodes", Json::array()}};
  for (const EngineColumn& engine : engines) {
    Json unjoined = Json::array();
    for (const EngineColumn::Unjoined& each : engine.unjoined)
      unjoined.push_back({{"name", each.name}, {"op", each.op}, {"us", each.us}});
    all["engines"].push_back({{"name", engine.name},
                              {"version", engine.version},
                              {"end_to_end_us", engine.end_to_end_us},
                              {"sum_us", engine.sum_us},
                              {"joined_us", engine.joined_us},
                              {"unjoined", std::move(unjoined)}});
  }
  for (const NodesRow& row : rows) {
    Json names = Json::array();
    for (const uint32_t node : row.nodes) names.push_back(nodes[node].label);
    all["rows"].push_back({{"nodes", std::move(names)}, {"us", row.us}});
  }
  for (uint32_t i = 0; i < nodes.size(); ++i)
    all["nodes"].push_back({{"name", nodes[i].label},
                            {"op", nodes[i].op},
                            {"constant", nodes[i].is_constant},
                            {"baton_us", own_us[i]}});
  return all;
}

std::string ByNode::table() const {
  constexpr int kWidth = 64;
  char cell[120];
  std::string text;
  const auto line = [&](const std::string& what, const std::vector<double>& us) {
    std::snprintf(cell, sizeof cell, "%-*.*s", kWidth, kWidth, what.c_str());
    text += cell;
    for (const double each : us) {
      std::snprintf(cell, sizeof cell, " %12.2f", each);
      text += each > 0 ? cell : "            -";
    }
    text += "\n";
  };
  text += std::string("us by node") + std::string(kWidth - 10, ' ');
  for (const EngineColumn& engine : engines) {
    std::snprintf(cell, sizeof cell, " %12.12s", engine.name.c_str());
    text += cell;
  }
  text += "\n";
  std::vector<double> small(engines.size());
  size_t left = 0;
  for (const NodesRow& row : rows) {
    bool shown = false;
    for (size_t i = 0; i < engines.size(); ++i) shown |= row.us[i] >= kShown * engines[i].sum_us;
    if (shown) {
      line(text_of(row, nodes), row.us);
      continue;
    }
    ++left;
    for (size_t i = 0; i < engines.size(); ++i) small[i] += row.us[i];
  }
  if (left) line(std::to_string(left) + " shorter ones", small);
  std::vector<double> unjoined, sums, whole;
  for (const EngineColumn& engine : engines) {
    unjoined.push_back(
        engine.sum_us - engine.joined_us > 1e-6 * engine.sum_us ? engine.sum_us - engine.joined_us : 0);
    sums.push_back(engine.sum_us);
    whole.push_back(engine.end_to_end_us);
  }
  line("steps that belong to no node that is known", unjoined);
  line("sum", sums);
  line("end to end, while steps are timed", whole);
  for (const EngineColumn& engine : engines)
    if (!engine.unjoined.empty())
      text += engine.name + ": " + std::to_string(engine.unjoined.size()) +
              " steps are not joined, the longest `" + engine.unjoined.front().name + "` (" +
              engine.unjoined.front().op + ")\n";
  return text;
}

}  // namespace baton
