#include "baton/map/measure/alternatives.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "baton/map/frontier.h"

namespace baton {

namespace {

/// A backend, and how a layer is computed there.
using Place = std::pair<size_t, LayerVariant>;

class AlternativeSearch {
 public:
  AlternativeSearch(const ModelProblem& model, const MappingSolution& best, const AlternativeOptions& options)
      : model_(model),
        best_(best),
        options_(options),
        end_(std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds)),
        covering_(static_cast<size_t>(model.problem.nodes)),
        owner_(covering_.size()) {
    for (size_t c = 0; c < candidates().size(); ++c)
      for (const int node : candidates()[c].nodes) covering_[static_cast<size_t>(node)].push_back(c);
    for (const int c : best.chosen)
      for (const int node : candidates()[static_cast<size_t>(c)].nodes)
        owner_[static_cast<size_t>(node)] = static_cast<size_t>(c);
  }

  Alternatives run() {
    found_.of.resize(options_.layers.size());
    for (int node = 0; node < model_.problem.nodes; ++node) of_node(node);
    return std::move(found_);
  }

 private:
  const std::vector<MappingCandidate>& candidates() const { return model_.problem.candidates; }

  Place place_of(int node, size_t candidate) const {
    const std::vector<uint32_t>& here = model_.operators[static_cast<size_t>(node)];
    const bool layer = std::ranges::any_of(here, [&](uint32_t id) { return options_.layers[id]; });
    const ModelProblem::Candidate& each = model_.candidates[candidate];
    return {each.backend, layer ? each.variant : LayerVariant::kByCost};
  }

  void of_node(int node) {
    std::map<Place, double> places;  // -> the cheapest kernel
    for (const size_t c : covering_[static_cast<size_t>(node)]) {
      const auto [at, fresh] = places.emplace(place_of(node, c), candidates()[c].us);
      if (!fresh) at->second = std::min(at->second, candidates()[c].us);
    }
    for (const auto& [place, cheapest] : places) {
      MappedAlternative alternative{options_.backends[place.first], variant_name(place.second), cheapest, 0};
      if (place_of(node, owner_[static_cast<size_t>(node)]) != place) {
        // Before the problem is copied: large ones have tens of thousands of candidates.
        if (std::chrono::steady_clock::now() > end_) {
          found_.complete = false;
          continue;
        }
        const auto more = more_us(node, place);
        if (!more) continue;
        alternative.more_us = *more;
      }
      for (const uint32_t id : model_.operators[static_cast<size_t>(node)])
        found_.of[id].push_back(alternative);
    }
  }

  std::optional<double> more_us(int node, const Place& place) const {
    MappingProblem there = model_.problem;
    there.candidates.clear();
    for (size_t c = 0; c < candidates().size(); ++c)
      if (!std::ranges::binary_search(candidates()[c].nodes, node) || place_of(node, c) == place)
        there.candidates.push_back(candidates()[c]);
    const auto found = search_frontier(there, {.interrupt = options_.interrupt});
    if (!found) return std::nullopt;
    return objective_us(there, *found, options_.objective) - best_.us;
  }

  const ModelProblem& model_;
  const MappingSolution& best_;
  const AlternativeOptions& options_;
  const std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> end_;
  std::vector<std::vector<size_t>> covering_;  ///< by node: candidates
  std::vector<size_t> owner_;                  ///< by node: the chosen candidate
  Alternatives found_;
};

}  // namespace

Alternatives alternatives(const ModelProblem& model, const MappingSolution& best,
                          const AlternativeOptions& options) {
  return AlternativeSearch(model, best, options).run();
}

}  // namespace baton
