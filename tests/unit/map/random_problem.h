#pragma once
// Random mapping problems, and their optimum by trying everything.
#include <algorithm>
#include <random>
#include <set>

#include "baton/map/problem.h"

namespace baton::testing {

struct RandomProblem {
  int nodes = 8, devices = 3;
  bool tree = true;       ///< all devices behind the first; else direct links between any two
  double transfer = 1;    ///< factor of its costs
  bool pairs = true;      ///< candidates of several nodes too
  bool variants = false;  ///< of half the nodes of each device a second candidate, with blocked values
};

inline MappingProblem random_problem(uint32_t seed, const RandomProblem& options) {
  std::mt19937 random(seed);
  const auto real = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random() % 100000) / 1e5;
  };
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); };
  MappingProblem problem;
  problem.nodes = options.nodes;
  problem.memory_limits.resize(static_cast<size_t>(options.devices));
  for (int d = 0; d < options.devices; ++d) problem.formats.push_back({"device " + std::to_string(d), d});
  const auto count = static_cast<size_t>(options.devices);
  problem.conversions.resize(count, std::vector<std::optional<MappingConversion>>(count));
  for (size_t f = 0; f < count; ++f)
    for (size_t g = 0; g < count; ++g)
      if (f != g && (!options.tree || f == 0 || g == 0))
        problem.conversions[f][g] = {options.transfer * real(1, 20), options.transfer * real(0, 0.02)};
  if (options.variants) {  // format `devices` + d: blocked, on device d
    for (auto& row : problem.conversions) row.resize(2 * count);
    problem.conversions.resize(2 * count, std::vector<std::optional<MappingConversion>>(2 * count));
    for (size_t d = 0; d < count; ++d) {
      problem.formats.push_back({"blocked on " + std::to_string(d), static_cast<int>(d)});
      problem.conversions[d][count + d] = problem.conversions[count + d][d] = {real(0, 4), real(0, 0.004)};
    }
  }
  problem.values.push_back({.bytes = 1000, .given = 0});
  for (int n = 0; n < options.nodes; ++n) problem.values.push_back({.producer = n, .bytes = real(10, 4000)});
  for (int n = 0; n < options.nodes; ++n) {
    const int inputs = 1 + below(2);
    std::set<int> read;
    // Mostly neighbours: chains with diamonds.
    for (int i = 0; i < inputs; ++i) read.insert(below(4) ? std::max(0, n - below(3)) : below(n + 1));
    for (const int v : read) problem.values[static_cast<size_t>(v)].consumers.push_back(n);
  }
  for (MappingValue& value : problem.values)
    if (value.producer >= 0 && value.consumers.empty()) value.required.push_back(0);
  const MappingIndex index(problem);
  const auto add = [&](std::vector<int> nodes, int device, bool blocked = false) {
    MappingCandidate candidate{
        .nodes = std::move(nodes), .us = real(1, 60), .memory = real(0, 100), .device = device};
    const CandidateValues values = index.values_of(candidate.nodes);
    const int format = device + (blocked ? options.devices : 0);
    candidate.input_formats.assign(values.inputs.size(), format);
    candidate.output_formats.assign(values.outputs.size(), format);
    candidate.label = "of device " + std::to_string(device);
    problem.candidates.push_back(candidate);
  };
  for (int n = 0; n < options.nodes; ++n)
    for (int d = 0; d < options.devices; ++d)
      if (d == 0 || below(4)) add({n}, d);
  for (int n = 0; options.variants && n < options.nodes; ++n)
    for (int d = 0; d < options.devices; ++d)
      if (below(2)) add({n}, d, true);
  for (int i = 0; options.pairs && i < options.nodes; ++i) {
    std::set<int> nodes{below(options.nodes)};
    for (int more = 1 + below(2); more-- > 0;)
      nodes.insert(std::min(options.nodes - 1, *nodes.begin() + 1 + below(3)));
    if (nodes.size() > 1) add({nodes.begin(), nodes.end()}, below(options.devices));
  }
  return problem;
}

/// Tries every choice.
inline std::optional<MappingSolution> brute_force(const MappingProblem& problem) {
  std::optional<MappingSolution> best;
  std::vector<int> chosen;
  std::vector<bool> covered(static_cast<size_t>(problem.nodes));
  // What each node costs at least, as a part of its cheapest candidate.
  std::vector<double> least(covered.size(), 1e300);
  for (const MappingCandidate& candidate : problem.candidates)
    for (const int n : candidate.nodes)
      least[static_cast<size_t>(n)] =
          std::min(least[static_cast<size_t>(n)], candidate.us / static_cast<double>(candidate.nodes.size()));
  const auto next = [&](auto&& self) -> void {
    const auto open = std::find(covered.begin(), covered.end(), false);
    if (open == covered.end()) {
      const auto solution = price(problem, chosen);
      if (solution && (!best || solution->us < best->us)) best = solution;
      return;
    }
    const auto node = static_cast<int>(open - covered.begin());
    double us = 0;
    for (const int c : chosen) us += problem.candidates[static_cast<size_t>(c)].us;
    for (size_t n = 0; n < covered.size(); ++n) us += covered[n] ? 0 : least[n];
    const auto extra = [&](const MappingCandidate& candidate) {
      double more = candidate.us;
      for (const int n : candidate.nodes) more -= least[static_cast<size_t>(n)];
      return more;
    };
    for (size_t c = 0; c < problem.candidates.size(); ++c) {
      const MappingCandidate& candidate = problem.candidates[c];
      if (candidate.nodes.front() != node || (best && us + extra(candidate) >= best->us)) continue;
      if (std::any_of(candidate.nodes.begin(), candidate.nodes.end(),
                      [&](int n) { return covered[static_cast<size_t>(n)]; }))
        continue;
      for (const int n : candidate.nodes) covered[static_cast<size_t>(n)] = true;
      chosen.push_back(static_cast<int>(c));
      self(self);
      chosen.pop_back();
      for (const int n : candidate.nodes) covered[static_cast<size_t>(n)] = false;
    }
  };
  next(next);
  return best;
}

}  // namespace baton::testing
