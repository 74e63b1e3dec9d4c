#include "baton/map/problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "baton/support/error.h"

namespace baton {

namespace {

constexpr double kNoWay = std::numeric_limits<double>::infinity();
constexpr size_t kMostExactTargets = 8;

bool contains(const std::vector<int>& sorted, int x) {
  return std::binary_search(sorted.begin(), sorted.end(), x);
}

void require_index(int index, size_t count, const std::string& what) {
  if (index < 0 || static_cast<size_t>(index) >= count)
    throw Error(what + " is " + std::to_string(index) + ", but there are " + std::to_string(count));
}

void require_time(double us, const std::string& what) {
  if (!(us >= 0) || us == kNoWay)
    throw Error(what + " costs " + std::to_string(us) + " us: a cost is a number that is not negative");
}

void check_values(const MappingProblem& problem) {
  for (size_t v = 0; v < problem.values.size(); ++v) {
    const MappingValue& value = problem.values[v];
    const std::string name = "value " + std::to_string(v);
    if (value.producer >= 0)
      require_index(value.producer, static_cast<size_t>(problem.nodes), "the producer of " + name);
    else
      require_index(value.given, problem.formats.size(), "the format of the given " + name);
    for (const int consumer : value.consumers) {
      require_index(consumer, static_cast<size_t>(problem.nodes), "a consumer of " + name);
      if (consumer <= value.producer)
        throw Error(name + " is consumed by node " + std::to_string(consumer) + ", before node " +
                    std::to_string(value.producer) + " produces it");
    }
    if (!std::is_sorted(value.consumers.begin(), value.consumers.end()))
      throw Error("the consumers of " + name + " are not in ascending order");
    for (const int format : value.required)
      require_index(format, problem.formats.size(), "a required format of " + name);
    require_time(value.bytes, name + ", in bytes,");
  }
}

void check_candidates(const MappingProblem& problem) {
  const MappingIndex index(problem);
  std::vector<bool> covered(static_cast<size_t>(problem.nodes));
  for (size_t c = 0; c < problem.candidates.size(); ++c) {
    const MappingCandidate& candidate = problem.candidates[c];
    const std::string name = "candidate " + std::to_string(c) + " (" + candidate.label + ")";
    if (candidate.nodes.empty()) throw Error(name + " covers no node");
    for (const int node : candidate.nodes) {
      require_index(node, static_cast<size_t>(problem.nodes), "a node of " + name);
      covered[static_cast<size_t>(node)] = true;
    }
    if (std::adjacent_find(candidate.nodes.begin(), candidate.nodes.end(), std::greater_equal<>()) !=
        candidate.nodes.end())
      throw Error("the nodes of " + name + " are not in ascending order, each once");
    require_time(candidate.us, name);
    require_time(candidate.memory, "the memory of " + name);
    require_index(candidate.device, problem.memory_limits.size(), "the device of " + name);
    const CandidateValues values = index.values_of(candidate.nodes);
    if (candidate.input_formats.size() != values.inputs.size() ||
        candidate.output_formats.size() != values.outputs.size())
      throw Error(name + " has " + std::to_string(values.inputs.size()) + " inputs and " +
                  std::to_string(values.outputs.size()) + " outputs, but formats for " +
                  std::to_string(candidate.input_formats.size()) + " and " +
                  std::to_string(candidate.output_formats.size()));
    for (const int format : candidate.input_formats)
      require_index(format, problem.formats.size(), "an input's format of " + name);
    for (const int format : candidate.output_formats)
      require_index(format, problem.formats.size(), "an output's format of " + name);
  }
  const auto missing = std::find(covered.begin(), covered.end(), false);
  if (missing != covered.end())
    throw Error("no candidate computes node " + std::to_string(missing - covered.begin()));
}

// The directed Steiner tree by dynamic programming over subsets of the targets (Dreyfus and Wagner).
class Tree {
 public:
  Tree(const MappingProblem& problem, int value, const std::vector<int>& to)
      : problem_(problem), value_(value), count_(problem.formats.size()), to_(to) {
    const size_t sets = size_t{1} << to_.size();
    cost_.assign(sets, std::vector<double>(count_, kNoWay));
    made_.assign(sets, std::vector<Made>(count_));
    for (size_t i = 0; i < to_.size(); ++i) cost_[size_t{1} << i][static_cast<size_t>(to_[i])] = 0;
    for (size_t set = 1; set < sets; ++set) {
      for (size_t part = (set - 1) & set; part > 0; part = (part - 1) & set)
        for (size_t f = 0; f < count_; ++f)
          if (cost_[part][f] + cost_[set ^ part][f] < cost_[set][f]) {
            cost_[set][f] = cost_[part][f] + cost_[set ^ part][f];
            made_[set][f] = {part, -1};
          }
      spread(set);
    }
  }

  std::optional<std::vector<MappingStep>> from(int format) const {
    const size_t all = (size_t{1} << to_.size()) - 1;
    if (cost_[all][static_cast<size_t>(format)] == kNoWay) return std::nullopt;
    std::vector<MappingStep> steps;
    std::vector<std::pair<size_t, int>> open{{all, format}};
    while (!open.empty()) {
      const auto [set, f] = open.back();
      open.pop_back();
      const Made& made = made_[set][static_cast<size_t>(f)];
      if (made.next >= 0) {
        const MappingStep step{value_, f, made.next};
        if (std::find(steps.begin(), steps.end(), step) == steps.end()) steps.push_back(step);
        open.emplace_back(set, made.next);
      } else if (made.part > 0) {
        open.emplace_back(set ^ made.part, f);
        open.emplace_back(made.part, f);
      }
    }
    return steps;
  }

 private:
  struct Made {
    size_t part = 0;  ///< the set is this one and the rest, both from here
    int next = -1;    ///< or the whole set from this format
  };

  // Bellman and Ford: there are few formats.
  void spread(size_t set) {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t f = 0; f < count_; ++f)
        for (size_t g = 0; g < count_; ++g) {
          if (f == g) continue;
          const double us =
              problem_.conversion_us(value_, static_cast<int>(f), static_cast<int>(g)) + cost_[set][g];
          // A step that costs nothing must not lead around in a circle: strictly less.
          if (us < cost_[set][f]) {
            cost_[set][f] = us;
            made_[set][f] = {0, static_cast<int>(g)};
            changed = true;
          }
        }
    }
  }

  const MappingProblem& problem_;
  int value_;
  size_t count_;
  std::vector<int> to_;
  std::vector<std::vector<double>> cost_;  ///< [set of targets][format]
  std::vector<std::vector<Made>> made_;
};

// An order in which the candidates can run; empty when some wait for each other.
std::vector<int> running_order(const MappingProblem& problem, std::span<const int> chosen,
                               const std::vector<int>& owner) {
  std::map<int, std::set<int>> before;
  std::map<int, std::vector<int>> after;
  for (const int c : chosen) before[c];
  for (const MappingValue& value : problem.values) {
    if (value.producer < 0) continue;
    const int from = owner[static_cast<size_t>(value.producer)];
    for (const int consumer : value.consumers) {
      const int to = owner[static_cast<size_t>(consumer)];
      if (from != to && before[to].insert(from).second) after[from].push_back(to);
    }
  }
  // The candidate with the lowest first node first, so that equal choices have one order.
  const auto first = [&](int c) { return problem.candidates[static_cast<size_t>(c)].nodes.front(); };
  std::set<std::pair<int, int>> ready;
  for (const auto& [c, waits] : before)
    if (waits.empty()) ready.emplace(first(c), c);
  std::vector<int> order;
  while (!ready.empty()) {
    const int c = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back(c);
    for (const int next : after[c]) {
      before[next].erase(c);
      if (before[next].empty()) ready.emplace(first(next), next);
    }
  }
  if (order.size() != chosen.size()) order.clear();
  return order;
}

bool within_limits(const MappingProblem& problem, std::span<const int> chosen) {
  if (problem.max_candidates > 0 && chosen.size() > static_cast<size_t>(problem.max_candidates)) return false;
  std::vector<double> used(problem.memory_limits.size());
  for (const int c : chosen) {
    const MappingCandidate& candidate = problem.candidates[static_cast<size_t>(c)];
    used[static_cast<size_t>(candidate.device)] += candidate.memory;
  }
  for (size_t d = 0; d < used.size(); ++d)
    if (problem.memory_limits[d] > 0 && used[d] > problem.memory_limits[d]) return false;
  return true;
}

}  // namespace

double MappingProblem::conversion_us(int value, int from, int to) const {
  const auto& way = conversions[static_cast<size_t>(from)][static_cast<size_t>(to)];
  return way ? way->fixed_us + way->us_per_byte * values[static_cast<size_t>(value)].bytes : kNoWay;
}

MappingIndex::MappingIndex(const MappingProblem& problem)
    : problem_(problem), reads_(static_cast<size_t>(problem.nodes)), writes_(reads_) {
  for (size_t v = 0; v < problem.values.size(); ++v) {
    const MappingValue& value = problem.values[v];
    if (value.producer >= 0) writes_[static_cast<size_t>(value.producer)].push_back(static_cast<int>(v));
    int last = -1;
    for (const int consumer : value.consumers) {
      if (consumer != last) reads_[static_cast<size_t>(consumer)].push_back(static_cast<int>(v));
      last = consumer;
    }
  }
}

CandidateValues MappingIndex::values_of(const std::vector<int>& nodes) const {
  CandidateValues found;
  const auto own = [&](int node) { return contains(nodes, node); };
  for (const int node : nodes) {
    for (const int v : writes(node)) {
      const MappingValue& value = problem_.values[static_cast<size_t>(v)];
      if (!value.required.empty() || !std::all_of(value.consumers.begin(), value.consumers.end(), own))
        found.outputs.push_back(v);
    }
    for (const int v : reads(node)) {
      const int producer = problem_.values[static_cast<size_t>(v)].producer;
      if (producer < 0 || !own(producer)) found.inputs.push_back(v);
    }
  }
  for (std::vector<int>* list : {&found.inputs, &found.outputs}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  return found;
}

void check(const MappingProblem& problem) {
  for (const MappingFormat& format : problem.formats)
    require_index(format.device, problem.memory_limits.size(), "the device of format " + format.name);
  const size_t count = problem.formats.size();
  if (problem.conversions.size() != count) throw Error("conversions are not given for every format");
  for (const auto& row : problem.conversions) {
    if (row.size() != count) throw Error("conversions are not given for every pair of formats");
    for (const auto& way : row)
      if (way) {
        require_time(way->fixed_us, "a conversion");
        require_time(way->us_per_byte, "a byte of a conversion");
      }
  }
  check_values(problem);
  check_candidates(problem);
}

std::optional<std::vector<MappingStep>> cheapest_conversions(const MappingProblem& problem, int value,
                                                             int from, const std::vector<int>& to) {
  std::vector<int> targets;
  for (const int format : to)
    if (format != from && std::find(targets.begin(), targets.end(), format) == targets.end())
      targets.push_back(format);
  std::vector<MappingStep> all;
  for (size_t begin = 0; begin < targets.size(); begin += kMostExactTargets) {
    const size_t end = std::min(begin + kMostExactTargets, targets.size());
    const Tree tree(problem, value, {targets.begin() + begin, targets.begin() + end});
    const auto steps = tree.from(from);
    if (!steps) return std::nullopt;
    for (const MappingStep& step : *steps)
      if (std::find(all.begin(), all.end(), step) == all.end()) all.push_back(step);
  }
  return all;
}

std::optional<MappingSolution> price(const MappingProblem& problem, std::span<const int> chosen) {
  std::vector<int> owner(static_cast<size_t>(problem.nodes), -1);
  MappingSolution solution;
  for (const int c : chosen) {
    const MappingCandidate& candidate = problem.candidates[static_cast<size_t>(c)];
    solution.us += candidate.us;
    for (const int node : candidate.nodes) {
      if (owner[static_cast<size_t>(node)] >= 0) return std::nullopt;
      owner[static_cast<size_t>(node)] = c;
    }
  }
  if (std::find(owner.begin(), owner.end(), -1) != owner.end()) return std::nullopt;
  if (!within_limits(problem, chosen)) return std::nullopt;
  solution.chosen = running_order(problem, chosen, owner);
  if (solution.chosen.empty() && !chosen.empty()) return std::nullopt;

  std::vector<int> produced(problem.values.size(), -1);
  std::vector<std::vector<int>> needed(problem.values.size());
  for (size_t v = 0; v < problem.values.size(); ++v) {
    produced[v] = problem.values[v].given;
    needed[v] = problem.values[v].required;
  }
  const MappingIndex index(problem);
  for (const int c : chosen) {
    const MappingCandidate& candidate = problem.candidates[static_cast<size_t>(c)];
    const CandidateValues values = index.values_of(candidate.nodes);
    for (size_t i = 0; i < values.outputs.size(); ++i)
      produced[static_cast<size_t>(values.outputs[i])] = candidate.output_formats[i];
    for (size_t i = 0; i < values.inputs.size(); ++i)
      needed[static_cast<size_t>(values.inputs[i])].push_back(candidate.input_formats[i]);
  }
  for (size_t v = 0; v < problem.values.size(); ++v) {
    if (needed[v].empty()) continue;
    const auto steps = cheapest_conversions(problem, static_cast<int>(v), produced[v], needed[v]);
    if (!steps) return std::nullopt;
    for (const MappingStep& step : *steps) {
      solution.us += problem.conversion_us(step.value, step.from, step.to);
      solution.steps.push_back(step);
    }
  }
  return solution;
}

}  // namespace baton
