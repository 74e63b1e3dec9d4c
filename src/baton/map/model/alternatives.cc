#include "baton/map/model/alternatives.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "baton/map/frontier.h"

namespace baton {

namespace {

bool between_devices(const MappingProblem& problem, const MappingStep& step) {
  return problem.formats[static_cast<size_t>(step.from)].device !=
         problem.formats[static_cast<size_t>(step.to)].device;
}

/// The steps that `before` does without.
std::vector<MappingStep> added(const std::vector<MappingStep>& steps,
                               const std::vector<MappingStep>& before) {
  std::vector<MappingStep> result;
  for (const MappingStep& step : steps)
    if (std::ranges::count(before, step) == 0) result.push_back(step);
  return result;
}

/// Candidates of a model with their numbers in the whole of it.
struct Part {
  ModelProblem model;
  std::vector<int> numbers;

  void add(const ModelProblem& whole, size_t c) {
    model.problem.candidates.push_back(whole.problem.candidates[c]);
    model.candidates.push_back(whole.candidates[c]);
    numbers.push_back(static_cast<int>(c));
  }
};

Part without_candidates(const ModelProblem& whole) {
  const MappingProblem& problem = whole.problem;
  Part part;
  part.model.problem = {.nodes = problem.nodes,
                        .values = problem.values,
                        .candidates = {},
                        .formats = problem.formats,
                        .conversions = problem.conversions,
                        .memory_limits = problem.memory_limits,
                        .max_candidates = problem.max_candidates,
                        .overlap = problem.overlap};
  part.model.operators = whole.operators;
  return part;
}

/// A backend, and how a layer is computed there.
using Place = std::pair<size_t, LayerVariant>;

Place place_of(const ModelProblem& model, const std::vector<bool>& layers, int node, size_t candidate) {
  const std::vector<uint32_t>& here = model.operators[static_cast<size_t>(node)];
  const bool layer = std::ranges::any_of(here, [&](uint32_t id) { return layers[id]; });
  const ModelProblem::Candidate& each = model.candidates[candidate];
  return {each.backend, layer ? each.variant : LayerVariant::kByCost};
}

/// All candidates, but of those that compute `node` only those in `place`.
Part with_node_in(const ModelProblem& whole, const std::vector<bool>& layers, int node, const Place& place) {
  Part part = without_candidates(whole);
  for (size_t c = 0; c < whole.candidates.size(); ++c)
    if (!std::ranges::binary_search(whole.problem.candidates[c].nodes, node) ||
        place_of(whole, layers, node, c) == place)
      part.add(whole, c);
  return part;
}

/// What a small change of `best` needs: what it has elsewhere, and all candidates that share a node with what
/// computes `node` in it, or would there.
Part nearby(const ModelProblem& whole, const Part& there, const MappingSolution& best, int node) {
  std::vector<bool> freed(static_cast<size_t>(whole.problem.nodes));
  const auto touches = [&](const MappingCandidate& each) {
    return std::ranges::any_of(each.nodes, [&](int n) { return freed[static_cast<size_t>(n)]; });
  };
  const auto free_all = [&](const MappingCandidate& each) {
    for (const int n : each.nodes) freed[static_cast<size_t>(n)] = true;
  };
  const MappingCandidate* smallest = nullptr;
  for (const MappingCandidate& each : there.model.problem.candidates)
    if (std::ranges::binary_search(each.nodes, node) &&
        (!smallest || each.nodes.size() < smallest->nodes.size()))
      smallest = &each;
  if (smallest) free_all(*smallest);
  for (const int c : best.chosen)
    if (const MappingCandidate& each = whole.problem.candidates[static_cast<size_t>(c)]; touches(each))
      free_all(each);
  Part part = without_candidates(whole);
  for (size_t i = 0; i < there.numbers.size(); ++i) {
    const auto c = static_cast<size_t>(there.numbers[i]);
    if (touches(whole.problem.candidates[c]) || std::ranges::count(best.chosen, there.numbers[i]))
      part.add(whole, c);
  }
  return part;
}

/// A mapping with an operator elsewhere.
struct Moved {
  MappingSolution solution;  ///< `us`: by the objective
  std::vector<int> backend_of;
};

std::optional<Moved> searched(const Part& part, size_t operators, MapObjective objective,
                              const std::atomic<bool>* interrupt) {
  std::vector<bool> covered(static_cast<size_t>(part.model.problem.nodes));
  for (const MappingCandidate& each : part.model.problem.candidates)
    for (const int n : each.nodes) covered[static_cast<size_t>(n)] = true;
  if (std::ranges::count(covered, false)) return std::nullopt;
  auto found = search_frontier(part.model.problem, {.interrupt = interrupt});
  if (!found) return std::nullopt;
  found->us = objective_us(part.model.problem, *found, objective);
  return Moved{*found, part.model.backend_of(found->chosen, operators)};
}

}  // namespace

Transfers transfers_of(const MappingProblem& problem, const std::vector<MappingStep>& steps) {
  Transfers transfers;
  for (const MappingStep& step : steps) {
    if (!between_devices(problem, step)) continue;
    ++transfers.count;
    transfers.bytes += problem.values[static_cast<size_t>(step.value)].bytes;
    transfers.us += problem.conversion_us(step.value, step.from, step.to);
  }
  return transfers;
}

Alternatives find_alternatives(const ModelProblem& model, const MappingSolution& best,
                               const AlternativeOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
  const size_t operators = options.layers.size();
  Alternatives result;
  result.by_operator.resize(operators);
  const MappingProblem& problem = model.problem;
  const std::vector<int> owner = model.backend_of(best.chosen, operators);
  std::vector<std::vector<size_t>> covering(static_cast<size_t>(problem.nodes));
  std::vector<size_t> chosen(covering.size());
  for (size_t c = 0; c < problem.candidates.size(); ++c)
    for (const int node : problem.candidates[c].nodes) covering[static_cast<size_t>(node)].push_back(c);
  for (const int c : best.chosen)
    for (const int node : problem.candidates[static_cast<size_t>(c)].nodes)
      chosen[static_cast<size_t>(node)] = static_cast<size_t>(c);
  for (int node = 0; node < problem.nodes; ++node) {
    const std::vector<uint32_t>& here = model.operators[static_cast<size_t>(node)];
    std::map<Place, double> places;  // -> the cheapest kernel
    for (const size_t c : covering[static_cast<size_t>(node)]) {
      const auto [at, fresh] =
          places.emplace(place_of(model, options.layers, node, c), problem.candidates[c].us);
      if (!fresh) at->second = std::min(at->second, problem.candidates[c].us);
    }
    const Place kept = place_of(model, options.layers, node, chosen[static_cast<size_t>(node)]);
    for (const auto& [place, cheapest] : places) {
      MappedAlternative alternative{
          .backend = options.backends[place.first], .variant = variant_name(place.second), .us = cheapest};
      if (place != kept) {
        // Before the problem is copied: large ones have tens of thousands of candidates.
        if (Clock::now() > end) {
          result.complete = false;
          continue;
        }
        const Part there = with_node_in(model, options.layers, node, place);
        std::optional<Moved> moved = searched(there, operators, options.objective, options.interrupt);
        // The best sum need not be the best side by side: a small change of the best mapping may be better.
        if (options.objective != MapObjective::kSerial)
          if (auto near =
                  searched(nearby(model, there, best, node), operators, options.objective, options.interrupt);
              near && (!moved || near->solution.us < moved->solution.us))
            moved = std::move(near);
        if (!moved) continue;
        alternative.more_us = moved->solution.us - best.us;
        const Transfers fresh = transfers_of(problem, added(moved->solution.steps, best.steps));
        alternative.transfers = fresh.count;
        alternative.transfer_bytes = fresh.bytes;
        alternative.transfer_us = fresh.us;
        for (uint32_t id = 0; id < operators; ++id)
          alternative.moves += moved->backend_of[id] != owner[id] && !std::ranges::binary_search(here, id);
      }
      for (const uint32_t id : here) result.by_operator[id].push_back(alternative);
    }
  }
  return result;
}

}  // namespace baton
