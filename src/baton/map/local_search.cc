#include "baton/map/local_search.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <random>

#include "baton/support/interrupt.h"

namespace baton {

namespace {

using Chosen = std::vector<int>;

class LocalSearch {
 public:
  LocalSearch(const MappingProblem& problem, const MappingCost& cost, const LocalSearchOptions& options)
      : problem_(problem),
        cost_(cost),
        options_(options),
        end_(std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds)),
        by_first_(static_cast<size_t>(problem.nodes)) {
    for (size_t c = 0; c < problem.candidates.size(); ++c)
      by_first_[static_cast<size_t>(problem.candidates[c].nodes.front())].push_back(static_cast<int>(c));
  }

  MappingSolution run(const MappingSolution& start) {
    MappingSolution best = start;
    best.us = cost_(start);
    descend(best);
    // Equal kicks in every run: results are reproducible.
    std::mt19937 random(1);
    const auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
    for (int kick = 0; kick < options_.kicks && !over() && best.chosen.size() > 1; ++kick) {
      Chosen other = best.chosen;
      if (kick % 2) {
        const size_t length = 1 + below(other.size()), begin = below(other.size());
        const auto device = static_cast<int>(below(problem_.memory_limits.size()));
        other = moved(other, begin, std::min(begin + length, other.size()), device);
      } else {
        for (size_t count = 2 + below(3); count-- > 0 && !other.empty();)
          other = replaced(other, static_cast<int>(below(problem_.candidates.size())));
      }
      std::optional<MappingSolution> from = priced(other);
      if (!from) continue;
      descend(*from);
      if (from->us < best.us * (1 - kLeastGain)) best = std::move(*from);
    }
    return best;
  }

 private:
  static constexpr double kLeastGain = 1e-9;
  static constexpr size_t kMostKnown = 200000;

  bool over() const {
    if (options_.interrupt && *options_.interrupt) throw Interrupted("interrupted");
    return std::chrono::steady_clock::now() >= end_;
  }

  std::optional<MappingSolution> priced(const Chosen& chosen) {
    if (chosen.empty()) return std::nullopt;
    std::optional<MappingSolution> solution = price(problem_, chosen);
    if (solution) solution->us = cost_(*solution);
    if (known_us_.size() < kMostKnown)
      known_us_[sorted(chosen)] = solution ? solution->us : std::numeric_limits<double>::infinity();
    return solution;
  }

  static Chosen sorted(Chosen chosen) {
    std::ranges::sort(chosen);
    return chosen;
  }

  bool try_out(MappingSolution& best, const Chosen& chosen) {
    // Restarts come to the same choices again and again.
    if (const auto at = known_us_.find(sorted(chosen));
        at != known_us_.end() && at->second >= best.us * (1 - kLeastGain))
      return false;
    const auto other = priced(chosen);
    if (!other || other->us >= best.us * (1 - kLeastGain)) return false;
    best.chosen = other->chosen;
    best.steps = other->steps;
    best.us = other->us;
    return true;
  }

  /// Long runs first: single nodes rarely pay for their copies.
  void descend(MappingSolution& best) {
    for (bool changed = true; changed && !over();) {
      changed = false;
      for (size_t length = best.chosen.size(); length > 0 && !over(); length = length * 2 / 3)
        for (size_t begin = 0; begin + length <= best.chosen.size() && !over(); ++begin)
          for (int device = 0; device < static_cast<int>(problem_.memory_limits.size()); ++device)
            changed = (begin + length <= best.chosen.size() &&
                       try_out(best, moved(best.chosen, begin, begin + length, device))) ||
                      changed;
      for (size_t c = 0; c < problem_.candidates.size() && !over(); ++c)
        if (std::ranges::find(best.chosen, static_cast<int>(c)) == best.chosen.end())
          changed = try_out(best, replaced(best.chosen, static_cast<int>(c))) || changed;
    }
  }

  const MappingCandidate& candidate(int c) const { return problem_.candidates[static_cast<size_t>(c)]; }

  /// Choices `begin` to `end` go to candidates of one device, as far as it has them.
  Chosen moved(const Chosen& from, size_t begin, size_t end, int device) const {
    std::vector<bool> free(static_cast<size_t>(problem_.nodes));
    Chosen chosen;
    for (size_t i = 0; i < from.size(); ++i)
      if (i < begin || i >= end)
        chosen.push_back(from[i]);
      else
        for (const int node : candidate(from[i]).nodes) free[static_cast<size_t>(node)] = true;
    return filled(std::move(chosen), free, device);
  }

  /// Candidate `c`, instead of all that it overlaps; what they leave open stays on c's device.
  Chosen replaced(const Chosen& from, int c) const {
    std::vector<bool> free(static_cast<size_t>(problem_.nodes));
    const std::vector<int>& own = candidate(c).nodes;
    Chosen chosen{c};
    for (const int other : from) {
      const std::vector<int>& nodes = candidate(other).nodes;
      if (std::ranges::none_of(nodes, [&](int n) { return std::ranges::binary_search(own, n); }))
        chosen.push_back(other);
      else
        for (const int node : nodes) free[static_cast<size_t>(node)] = true;
    }
    for (const int node : own) free[static_cast<size_t>(node)] = false;
    return filled(std::move(chosen), free, candidate(c).device);
  }

  /// Covers the free nodes; empty where that is impossible.
  Chosen filled(Chosen chosen, std::vector<bool>& free, int device) const {
    for (int node = 0; node < problem_.nodes; ++node) {
      if (!free[static_cast<size_t>(node)]) continue;
      int taken = -1;
      const auto better = [&](int c) {
        if (taken < 0) return true;
        const MappingCandidate &a = candidate(c), &b = candidate(taken);
        if ((a.device == device) != (b.device == device)) return a.device == device;
        return a.us / static_cast<double>(a.nodes.size()) < b.us / static_cast<double>(b.nodes.size());
      };
      for (const int c : by_first_[static_cast<size_t>(node)])
        if (std::ranges::all_of(candidate(c).nodes, [&](int n) { return free[static_cast<size_t>(n)]; }) &&
            better(c))
          taken = c;
      if (taken < 0) return {};
      chosen.push_back(taken);
      for (const int n : candidate(taken).nodes) free[static_cast<size_t>(n)] = false;
    }
    return chosen;
  }

  const MappingProblem& problem_;
  const MappingCost& cost_;
  const LocalSearchOptions& options_;
  const std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> end_;
  std::vector<Chosen> by_first_;       ///< candidates by their first node
  std::map<Chosen, double> known_us_;  ///< costs by choice, ascending; infinite: it cannot run
};

}  // namespace

MappingSolution improved(const MappingProblem& problem, const MappingSolution& start, const MappingCost& cost,
                         const LocalSearchOptions& options) {
  return LocalSearch(problem, cost, options).run(start);
}

}  // namespace baton
