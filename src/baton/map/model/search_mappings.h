#pragma once
// The search for the best mapping by the prices known, and the check of what it finds.
#include <string>

#include "baton/map/model/priced_problem.h"

namespace baton {

struct MapSearch {
  MapModels models;      ///< with the mappings found; what each costs by the problem
  ModelProblem problem;  ///< with the prices at the end
  MappingSolution best;
  double bound_us = 0;  ///< no mapping is faster, by the model
  std::string method;   ///< of the search
  MapBans banned;       ///< so that there are few regions
};

/// Until it finds nothing new: what it finds is built and timed, and its times are prices, too. Throws Error
/// when no mapping keeps all limits and rules.
MapSearch search_mappings(const MapTask& task, MapRun& run, MapModels models, const MapPrices& prices);

/// Times all models in turn, and searches once more by these times, which replace those from before.
MapSearch check_by_clock(const MapTask& task, MapRun& run, MapSearch found, const MapPrices& prices);

}  // namespace baton
