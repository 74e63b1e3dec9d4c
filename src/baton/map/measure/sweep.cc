#include "baton/map/measure/sweep.h"

#include <algorithm>
#include <cmath>

#include "baton/map/frontier.h"
#include "baton/map/objective.h"
#include "baton/support/error.h"

namespace baton {

namespace {

/// What the model would cost with faster links.
MappingProblem with_links(const MappingProblem& problem, double factor) {
  MappingProblem faster = problem;
  for (size_t f = 0; f < problem.formats.size(); ++f)
    for (size_t g = 0; g < problem.formats.size(); ++g)
      if (auto& link = faster.conversions[f][g];
          link && problem.formats[f].device != problem.formats[g].device) {
        link->fixed_us /= factor;
        link->us_per_byte /= factor;
      }
  return faster;
}

}  // namespace

std::vector<SweepPoint> sweep_links(const MapResult& result, double least, double most, int points,
                                    const std::atomic<bool>* interrupt) {
  if (!(least > 0) || !(most >= least) || !std::isfinite(most))
    throw UsageError("a sweep goes from one positive factor to a larger one: --sweep link=0.1:100");
  const MapObjective objective = result.report.objective;
  constexpr double kPointSeconds = 1;
  std::vector<SweepPoint> found;
  for (int i = 0; i < points; ++i) {
    SweepPoint point{.factor = points > 1 ? least * std::pow(most / least, i / (points - 1.0)) : least};
    const MappingProblem problem = with_links(result.problem, point.factor);
    for (const std::vector<int>& single : result.singles)
      if (const auto cost = single.empty() ? std::nullopt : price(problem, single)) {
        const double us = objective_us(problem, *cost, objective);
        if (point.best_single_us <= 0 || us < point.best_single_us) point.best_single_us = us;
      }
    FrontierOptions how;
    how.interrupt = interrupt;
    auto best = search_frontier(problem, how);
    if (!best) throw Error("no mapping keeps the limits of memory");
    best = search_objective(problem, *best, objective, kPointSeconds, interrupt);
    point.best_us = best->us;
    for (const int c : best->chosen) point.moved += problem.candidates[static_cast<size_t>(c)].device > 0;
    found.push_back(point);
  }
  return found;
}

}  // namespace baton
