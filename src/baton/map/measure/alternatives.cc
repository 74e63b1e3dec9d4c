#include "baton/map/measure/alternatives.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "baton/map/frontier.h"

namespace baton {

namespace {

bool between_devices(const MappingProblem& problem, const MappingStep& step) {
  return problem.formats[static_cast<size_t>(step.from)].device !=
         problem.formats[static_cast<size_t>(step.to)].device;
}

/// Of `steps` those that `before` does without.
std::vector<MappingStep> added(const std::vector<MappingStep>& steps,
                               const std::vector<MappingStep>& before) {
  std::vector<MappingStep> result;
  for (const MappingStep& step : steps)
    if (std::ranges::count(before, step) == 0) result.push_back(step);
  return result;
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
                               const std::vector<std::string>& backends, size_t operators,
                               MapObjective objective, double seconds, const std::atomic<bool>* interrupt) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  Alternatives result;
  result.by_operator.resize(operators);
  const MappingProblem& problem = model.problem;
  const std::vector<int> owner = model.backend_of(best.chosen, operators);
  for (int node = 0; node < problem.nodes; ++node) {
    const std::vector<uint32_t>& here = model.operators[static_cast<size_t>(node)];
    for (size_t backend = 0; backend < backends.size(); ++backend) {
      double cheapest = std::numeric_limits<double>::infinity();
      ModelProblem there;
      there.problem = problem;
      there.operators = model.operators;
      there.problem.candidates.clear();
      for (size_t c = 0; c < problem.candidates.size(); ++c) {
        const MappingCandidate& each = problem.candidates[c];
        const bool covers = std::ranges::binary_search(each.nodes, node);
        if (covers && model.candidates[c].backend == backend) cheapest = std::min(cheapest, each.us);
        if (covers && model.candidates[c].backend != backend) continue;
        there.problem.candidates.push_back(each);
        there.candidates.push_back(model.candidates[c]);
      }
      if (!std::isfinite(cheapest)) continue;
      MappedAlternative alternative{.backend = backends[backend], .us = cheapest};
      if (owner[here.front()] != static_cast<int>(backend)) {
        if (Clock::now() > end) {
          result.complete = false;
          continue;
        }
        const auto found = search_frontier(there.problem, {.interrupt = interrupt});
        if (!found) continue;
        alternative.more_us = objective_us(there.problem, *found, objective) - best.us;
        const Transfers fresh = transfers_of(problem, added(found->steps, best.steps));
        alternative.transfers = fresh.count;
        alternative.transfer_bytes = fresh.bytes;
        alternative.transfer_us = fresh.us;
        const std::vector<int> moved = there.backend_of(found->chosen, operators);
        for (uint32_t id = 0; id < operators; ++id)
          alternative.moves += moved[id] != owner[id] && !std::ranges::binary_search(here, id);
      }
      for (const uint32_t id : here) result.by_operator[id].push_back(alternative);
    }
  }
  return result;
}

}  // namespace baton
