#include "baton/map/model/search_mappings.h"

#include <algorithm>
#include <set>

#include "baton/map/frontier.h"
#include "baton/map/milp.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"

namespace baton {

namespace {

constexpr double kMilpSeconds = 20;
// Each search for queues side by side may take a second per hundred nodes.
constexpr double kNodesPerSecond = 100, kLeastObjectiveS = 1, kMostObjectiveS = 5;

struct Solved {
  ModelProblem problem;
  MappingSolution best;
};

MappingSolution best_of(const MapTask& task, MapRun& run, const MappingProblem& problem) {
  const int64_t begin = monotonic_ns();
  const std::atomic<bool>* interrupt = run.build.context.interrupt;
  std::optional<MappingSolution> best = search_frontier(problem, {.interrupt = interrupt});
  const bool limited = std::ranges::any_of(problem.memory_limits, [](double each) { return each > 0; });
  // Limits are kept along the graph, but not exactly.
  if (limited && (!best || best->gap() > 1e-3)) {
    MilpOptions exact{.seconds = kMilpSeconds, .start = best};
    const MilpResult found = solve_milp(problem, exact);
    if (found.solution && (!best || found.solution->us < best->us)) best = found.solution;
    if (best) best->bound_us = std::max(best->bound_us, std::min(found.bound_us, best->us));
  }
  const double seconds = std::clamp(problem.nodes / kNodesPerSecond, kLeastObjectiveS, kMostObjectiveS);
  if (best) best = search_objective(problem, *best, task.options.objective, seconds, interrupt);
  run.search_s += seconds_since(begin);
  if (!best) throw Error(no_mapping_text(task.options.rules, task.machine));
  return *best;
}

Solved solve(const MapTask& task, MapRun& run, const MapModels& models, const MapPrices& prices,
             const MapBans& banned) {
  Solved solved{priced_problem(task, models, prices, banned), {}};
  solved.best = best_of(task, run, solved.problem.problem);
  return solved;
}

/// The best mapping found; with few regions, by giving back the one that costs least, again and again. These
/// are added to what is banned.
Solved solve_with_few_regions(const MapTask& task, MapRun& run, const MapModels& models,
                              const MapPrices& prices, MapBans& banned) {
  Solved solved = solve(task, run, models, prices, banned);
  while (task.options.max_regions > 0) {
    const std::vector<int> owner =
        solved.problem.backend_of(solved.best.chosen, task.module->origins().size());
    const auto regions = regions_of(owner, models.builds.front().origins);
    if (regions.size() <= static_cast<size_t>(task.options.max_regions)) break;
    std::optional<Solved> cheapest;
    MapBans cheapest_ban;
    for (const std::set<uint32_t>& region : regions) {
      MapBans more = banned;
      for (const uint32_t id : region) more.insert({static_cast<size_t>(owner[id]), id});
      try {
        Solved found = solve(task, run, models, prices, more);
        if (cheapest && found.best.us >= cheapest->best.us) continue;
        cheapest = std::move(found);
        cheapest_ban = std::move(more);
      } catch (const Interrupted&) {
        throw;
      } catch (const Error&) {  // a rule needs the region
      }
    }
    if (!cheapest)
      throw Error("the rules need more than " + std::to_string(task.options.max_regions) +
                  " regions (--max-regions)");
    banned = std::move(cheapest_ban);
    solved = std::move(*cheapest);
  }
  return solved;
}

/// The mapping as a model to build. Where all kernels are of builds that chose for themselves, a build may
/// choose again, beside its new neighbours.
MappedModel mapping_of(const MapTask& task, const MapModels& models, const Solved& solved) {
  MappedModel mapping;
  mapping.modelled_us = solved.best.us;
  mapping.backend_of = solved.problem.backend_of(solved.best.chosen, task.module->origins().size());
  mapping.variant_of.assign(mapping.backend_of.size(), LayerVariant::kByCost);
  for (const int c : solved.best.chosen) {
    const ModelProblem::Candidate& each = solved.problem.candidates[static_cast<size_t>(c)];
    if (each.backend != 0 || each.variant == LayerVariant::kByCost) continue;
    const bool portion = each.build >= models.builds.size();
    mapping.pinned = mapping.pinned || (!portion && models.all[models.build_of[each.build]].pinned);
    for (const uint32_t id : solved.problem.operators_of(c))
      if (is_layer(models.builds.front().origins.operators[id])) mapping.variant_of[id] = each.variant;
  }
  return mapping;
}

/// What each build costs by the problem; a build that costs less than the solution is the better one.
void keep(const MapTask& task, Solved solved, MapSearch& search) {
  search.problem = std::move(solved.problem);
  search.best = std::move(solved.best);
  for (size_t b = 0; b < search.models.builds.size(); ++b) {
    MappedModel& mapped = search.models.all[search.models.build_of[b]];
    if (search.problem.whole[b].empty()) continue;
    const auto cost = price(search.problem.problem, search.problem.whole[b]);
    if (!cost) continue;
    mapped.modelled_us = objective_us(search.problem.problem, *cost, task.options.objective);
    if (mapped.modelled_us >= search.best.us) continue;  // the search for queues side by side is not exact
    search.best.chosen = cost->chosen;
    search.best.steps = cost->steps;
    search.best.us = mapped.modelled_us;
  }
}

}  // namespace

MapSearch search_mappings(const MapTask& task, MapRun& run, MapModels models, const MapPrices& prices) {
  MapSearch search;
  search.models = std::move(models);
  for (int made = 0; run.partial.empty(); ++made) {
    task.show("searching", made, task.options.tries);
    Solved solved = solve_with_few_regions(task, run, search.models, prices, search.banned);
    search.bound_us = solved.best.bound_us;
    search.method = solved.best.method;
    MappedModel mapping = mapping_of(task, search.models, solved);
    mapping.name = "mapping " + std::to_string(made + 1);
    const bool known = std::ranges::any_of(search.models.all,
                                           [&](const MappedModel& each) { return each.is_same(mapping); });
    if (known || made == task.options.tries || !add_model(task, run, search.models, std::move(mapping))) {
      keep(task, std::move(solved), search);
      return search;
    }
    price_models(task, run, search.models, {search.models.all.size() - 1},
                 task.options.max_seconds * kForMappings / task.options.tries, "measuring mappings");
  }
  keep(task, solve_with_few_regions(task, run, search.models, prices, search.banned), search);
  return search;
}

MapSearch check_by_clock(const MapTask& task, MapRun& run, MapSearch found, const MapPrices& prices) {
  MapModels& models = found.models;
  std::vector<size_t> all;
  for (size_t i = 0; i < models.subjects.size(); ++i)
    if (models.subjects[i]) all.push_back(i);
  models.builds.clear();
  models.build_of.clear();
  price_models(task, run, models, all, task.options.max_seconds * kForChoice, "measuring all in turn");
  Solved solved = solve(task, run, models, prices, found.banned);
  found.bound_us = solved.best.bound_us;
  keep(task, std::move(solved), found);
  return found;
}

}  // namespace baton
