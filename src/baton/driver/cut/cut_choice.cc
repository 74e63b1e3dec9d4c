#include "baton/driver/cut/cut_choice.h"

#include <algorithm>
#include <map>

#include "baton/support/error.h"
#include "baton/text/origin_label.h"

namespace baton {

namespace {

using NodeNumber = uint32_t;

/// The graph.json nodes that compute each operator.
std::map<const Origin*, std::vector<int>> computing_nodes(const GraphPlan& plan) {
  std::map<const Origin*, std::vector<int>> nodes;
  for (size_t i = 0; i < plan.nodes.size(); ++i)
    if (plan.nodes[i].function)
      for (const Origin* origin : plan.nodes[i].origins.origins())
        nodes[origin].push_back(static_cast<int>(i));
  return nodes;
}

/// Extends the set of chosen steps until the cut is convex.
class Chooser {
 public:
  Chooser(const CutGraph& graph, const std::vector<ChosenOperator>& wanted,
          const std::function<CutPlan()>& built)
      : graph_(graph), wanted_(wanted), built_(built), chosen_(graph.nodes().size()) {}

  CutChoice run() {
    std::vector<const ChosenOperator*> folded;
    for (const ChosenOperator& each : wanted_) {
      why_.emplace(each.origin, each.why);
      if (each.folded) folded.push_back(&each);
    }
    index_steps();
    for (const ChosenOperator& each : wanted_)
      if (!each.folded) take(*each.origin);
    if (std::find(chosen_.begin(), chosen_.end(), true) ==
        chosen_.end()) {  // only folded into constants: treated as computed
      for (const ChosenOperator* each : folded) take(*each->origin);
      folded.clear();
    }
    refuse_parts();
    close_holes();
    add_folded(folded);
    refuse_parts();
    complete_functions();
    return result();
  }

 private:
  void index_steps() {
    for (NodeNumber i = 0; i < graph_.nodes().size(); ++i)
      for (const Origin* origin : graph_[i].operators) steps_[origin].push_back(i);
  }

  void take(const Origin& origin) {
    const auto at = steps_.find(&origin);
    if (at == steps_.end())
      throw Error(origin_label(origin) + " is not in main, or nothing that main returns needs it");
    for (const NodeNumber step : at->second) chosen_[step] = true;
  }

  /// Steps not chosen that lie on a path between chosen ones.
  std::vector<NodeNumber> hole() const {
    const size_t count = graph_.nodes().size();
    std::vector<bool> behind(count), before(count);  // any chosen step
    for (NodeNumber i = 0; i < count; ++i)
      for (const NodeNumber read : graph_[i].reads) behind[i] = behind[i] || behind[read] || chosen_[read];
    for (NodeNumber i = static_cast<NodeNumber>(count); i-- > 0;)
      if (chosen_[i] || before[i])
        for (const NodeNumber read : graph_[i].reads) before[read] = true;
    std::vector<NodeNumber> found;
    for (NodeNumber i = 0; i < count; ++i)
      if (graph_[i].step && !chosen_[i] && behind[i] && before[i]) found.push_back(i);
    return found;
  }

  /// Whether no kernel computes the step, because a pass dropped or folded it. Naming nodes cannot add it
  /// then.
  bool has_no_node(const CutNode& step) {
    if (step.operators.empty()) return true;
    if (!built().plan) return false;
    return std::none_of(step.operators.begin(), step.operators.end(),
                        [&](const Origin* origin) { return nodes_.count(origin) != 0; });
  }

  const CutPlan& built() {
    if (asked_) return plan_;
    asked_ = true;
    plan_ = built_();
    if (plan_.plan) nodes_ = computing_nodes(*plan_.plan);
    return plan_;
  }

  // Adds steps without a kernel if that alone closes the holes.
  void close_holes() {
    const std::vector<NodeNumber> open = hole();
    if (!std::all_of(open.begin(), open.end(), [&](NodeNumber step) { return has_no_node(graph_[step]); }))
      refuse(open);
    for (const NodeNumber step : open) {
      chosen_[step] = true;
      for (const Origin* origin : graph_[step].operators)
        why_.emplace(origin, "lies between; " + fate(*origin));
    }
  }

  std::string fate(const Origin& origin) {
    const OriginTable* table = built().table;
    const auto id = table ? table->find(&origin) : std::nullopt;
    if (const Retired* retired = id ? table->retired(*id) : nullptr)
      return "retired by " + retired->pass + ": " + retired->reason;
    return "no kernel computes it";
  }

  // Adds operators folded into weights of the cut, nearest first, unless an operator outside the cut lies
  // between.
  void add_folded(const std::vector<const ChosenOperator*>& folded) {
    std::vector<std::pair<NodeNumber, const ChosenOperator*>> nearest;
    for (const ChosenOperator* each : folded) {
      const auto at = steps_.find(each->origin);
      if (at == steps_.end()) continue;
      nearest.emplace_back(at->second.back(), each);
    }
    std::sort(nearest.begin(), nearest.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [last, each] : nearest) {
      const std::vector<bool> before = chosen_;
      take(*each->origin);
      const std::vector<NodeNumber> open = hole();
      const bool closes =
          std::all_of(open.begin(), open.end(), [&](NodeNumber step) { return has_no_node(graph_[step]); });
      if (closes) {
        close_holes();
        continue;
      }
      const auto blocking =
          std::find_if(open.begin(), open.end(), [&](NodeNumber step) { return !has_no_node(graph_[step]); });
      left_out_.push_back(
          {each->origin, each->why + "; left out: " + described(*blocking) + " lies between"});
      why_.erase(each->origin);
      chosen_ = before;
    }
  }

  std::string described(NodeNumber step) {
    std::string text = step_label(graph_[step]);
    const std::vector<int> nodes = nodes_of(step);
    if (!nodes.empty()) text += " (" + node_label(*built().plan, nodes.front()) + ")";
    return text;
  }

  std::vector<int> nodes_of(NodeNumber step) {
    std::vector<int> nodes;
    if (!built().plan) return nodes;
    for (const Origin* origin : graph_[step].operators)
      if (const auto at = nodes_.find(origin); at != nodes_.end())
        nodes.insert(nodes.end(), at->second.begin(), at->second.end());
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }

  /// Reports a path, through tuples, from a chosen step over the hole back to a chosen one.
  [[noreturn]] void refuse(const std::vector<NodeNumber>& open) {
    const NodeNumber first = open.front();
    // The first step of the hole that reads a chosen step, possibly through tuples.
    std::vector<bool> carries(graph_.nodes().size());
    for (NodeNumber i = 0; i < first; ++i) {
      const std::vector<NodeNumber>& reads = graph_[i].reads;
      carries[i] = chosen_[i] ||
                   (!graph_[i].step &&
                    std::any_of(reads.begin(), reads.end(), [&](NodeNumber read) { return carries[read]; }));
    }
    NodeNumber from = first;
    while (!chosen_[from]) {
      const std::vector<NodeNumber>& reads = graph_[from].reads;
      from = *std::find_if(reads.begin(), reads.end(), [&](NodeNumber read) { return carries[read]; });
    }
    // The last step on some path from `first` that a chosen step reads.
    std::vector<bool> on_way(graph_.nodes().size());
    on_way[first] = true;
    NodeNumber last = first, to = first;
    for (NodeNumber i = first + 1; i < graph_.nodes().size(); ++i)
      for (const NodeNumber read : graph_[i].reads) {
        if (!on_way[read]) continue;
        if (chosen_[i] && to == first) {
          to = i;
          last = read;
        }
        if (!chosen_[i]) on_way[i] = true;
      }
    std::string text =
        "what was chosen leaves a hole: from " + step_label(graph_[from]) + ", through " + described(first);
    if (last != first && graph_[last].step) text += " ... " + described(last);
    text += ", back to " + step_label(graph_[to]);
    std::vector<int> missing;
    std::string operators;
    size_t count = 0;
    for (const NodeNumber step : open) {
      const std::vector<int> nodes = nodes_of(step);
      missing.insert(missing.end(), nodes.begin(), nodes.end());
      if (++count <= 12) operators += (operators.empty() ? "" : ", ") + step_label(graph_[step]);
    }
    if (count > 12) operators += ", ... (" + std::to_string(count) + ")";
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    text += "\n  to close it add " + operators;
    if (!missing.empty())
      text += ": " + std::string(missing.size() == 1 ? "node " : "nodes ") + node_list(missing);
    throw Error(text);
  }

  /// The operators of a step that were chosen, and those that were not.
  std::pair<std::vector<const Origin*>, std::vector<const Origin*>> parts(const CutNode& step) const {
    std::pair<std::vector<const Origin*>, std::vector<const Origin*>> parts;
    for (const Origin* origin : step.operators)
      (why_.count(origin) ? parts.first : parts.second).push_back(origin);
    return parts;
  }

  // A branch or a loop must be chosen completely.
  void refuse_parts() const {
    for (NodeNumber i = 0; i < graph_.nodes().size(); ++i) {
      if (!chosen_[i] || graph_[i].control.empty()) continue;
      const auto [inside, missing] = parts(graph_[i]);
      if (!missing.empty())
        throw Error("what was chosen cuts " + graph_[i].control + ": " + operator_labels(inside) +
                    " is inside, and so is " + operator_labels(missing) +
                    ", which was not chosen\n  choose all of it, or what is before or behind it");
    }
  }

  // Choosing any operator of a called function chooses all of it.
  void complete_functions() {
    for (NodeNumber i = 0; i < graph_.nodes().size(); ++i) {
      if (!chosen_[i] || graph_[i].inside.empty()) continue;
      const auto [inside, missing] = parts(graph_[i]);
      for (const Origin* origin : missing)
        why_.emplace(origin,
                     "in " + graph_[i].inside + (inside.empty() ? "" : " with " + operator_labels(inside)));
    }
  }

  CutChoice result() const {
    CutChoice result;
    PointerSet seen;
    for (NodeNumber i = 0; i < graph_.nodes().size(); ++i) {
      if (!chosen_[i]) continue;
      for (const Origin* origin : graph_[i].operators) {
        const auto why = why_.find(origin);
        if (seen.insert(origin))
          result.operators.push_back({origin, why == why_.end() ? "in one step with others" : why->second});
      }
    }
    result.chosen = chosen_;
    result.left_out = left_out_;
    return result;
  }

  const CutGraph& graph_;
  const std::vector<ChosenOperator>& wanted_;
  const std::function<CutPlan()>& built_;
  std::vector<bool> chosen_;
  std::map<const Origin*, std::string> why_;
  std::map<const Origin*, std::vector<NodeNumber>> steps_;
  std::vector<CutOperator> left_out_;
  bool asked_ = false;
  CutPlan plan_;
  std::map<const Origin*, std::vector<int>> nodes_;
};

}  // namespace

CutChoice choose_steps(const CutGraph& graph, const std::vector<ChosenOperator>& wanted,
                       const std::function<CutPlan()>& built) {
  return Chooser(graph, wanted, built).run();
}

}  // namespace baton
