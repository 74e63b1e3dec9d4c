// Maps nodes of graph.json to operators of the source.
#include <map>

#include "baton/driver/cut/cut_choice.h"
#include "baton/driver/cut/node_selection.h"
#include "baton/support/error.h"
#include "baton/text/origin_label.h"

namespace baton {

namespace {

[[noreturn]] void nothing_computed(const GraphPlan& plan, const std::vector<int>& nodes) {
  std::string text;
  const auto node_at = [&](int node) -> const PlannedNode& { return plan.nodes[static_cast<size_t>(node)]; };
  const PlannedNode* added = nullptr;
  std::string name;
  for (const int node : nodes) {
    if (!node_at(node).function) continue;
    added = &node_at(node);
    name = plan.name_of(static_cast<size_t>(node));
  }
  if (added)
    throw Error("node `" + name + "` computes no operator of the program: the compiler added it for " +
                operator_labels(added->origins.causes()) + " (" + std::string(added->origins.reason()) +
                ")\n  choose what it was added for");
  size_t shown = 0;
  for (const int node : nodes) {
    if (++shown > 4) break;
    text += (text.empty() ? "" : ", ") + plan.name_of(static_cast<size_t>(node));
  }
  text += nodes.size() > 4 ? ", ..." : "";
  std::string nearest;
  const auto add = [&](int node) { nearest += (nearest.empty() ? "" : ", ") + node_label(plan, node); };
  const auto computes = [&](int node) { return node_at(node).function != nullptr; };
  int before = nodes.front() - 1, behind = nodes.back() + 1;
  const int count = static_cast<int>(plan.nodes.size());
  while (before >= 0 && !computes(before)) --before;
  while (behind < count && !computes(behind)) ++behind;
  if (before >= 0) add(before);
  if (behind < count) add(behind);
  const std::string what = nodes.size() == 1 ? "node " + node_list(nodes) + " is an input or a constant"
                                             : "nodes " + node_list(nodes) + " are inputs and constants only";
  throw Error(
      what + " (" + text + ")" +
      (nearest.empty() ? "; the graph computes nothing" : "\n  the nearest that compute: " + nearest));
}

}  // namespace

std::string node_label(const GraphPlan& plan, int node) {
  return "node " + std::to_string(node) + " `" +
         std::string(short_node_name(plan.name_of(static_cast<size_t>(node)))) + "`";
}

std::string operator_labels(std::span<const Origin* const> origins) {
  std::string text;
  for (const Origin* origin : origins) text += (text.empty() ? "" : ", ") + origin_label(*origin);
  return text;
}

std::vector<ChosenOperator> operators_of_nodes(const CutPlan& built, const std::vector<int>& nodes) {
  const GraphPlan& plan = *built.plan;
  std::vector<ChosenOperator> chosen;
  std::map<const Origin*, size_t> at;
  const auto add = [&](const Origin* origin, std::string why, bool folded) {
    const auto [known, fresh] = at.emplace(origin, chosen.size());
    if (fresh)
      chosen.push_back({origin, std::move(why), folded});
    else if (!folded && chosen[known->second].folded)
      chosen[known->second] = {origin, std::move(why), false};
  };
  for (const int number : nodes) {
    const PlannedNode& node = plan.nodes[static_cast<size_t>(number)];
    if (!node.function) continue;
    for (const Origin* origin : node.origins.origins())
      add(origin, "computed by " + node_label(plan, number), false);
    for (const EntryId entry : plan.graph->nodes[static_cast<size_t>(number)].inputs) {
      const uint32_t input = plan.graph->maker_of(entry);
      const PlannedNode& constant = plan.nodes[input];
      if (constant.function) continue;
      for (const Origin* origin : constant.origins.origins())
        add(origin, "folded into the constant " + plan.name_of(input) + " of " + node_label(plan, number),
            true);
    }
  }
  if (chosen.empty()) nothing_computed(plan, nodes);
  return chosen;
}

std::string node_list(std::vector<int> nodes) {
  std::sort(nodes.begin(), nodes.end());
  std::string text;
  for (size_t i = 0; i < nodes.size();) {
    size_t last = i;
    while (last + 1 < nodes.size() && nodes[last + 1] <= nodes[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(nodes[i]);
    if (nodes[last] != nodes[i]) text += ":" + std::to_string(nodes[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace baton
