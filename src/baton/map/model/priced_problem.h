#pragma once
// The mapping problem by all times and prices that are known.
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "baton/map/model/links.h"
#include "baton/map/model/map_models.h"
#include "baton/map/model/map_task.h"

namespace baton {

/// Times of parts of fused groups, in microseconds, by backend and operators; nullopt: there is none.
using PieceTimes = std::map<std::pair<size_t, std::vector<uint32_t>>, std::optional<double>>;

/// Prices beside the times of kernels in builds.
struct MapPrices {
  MapLinks links;
  PieceTimes pieces = {};
};

/// Backends and operators that they must not compute.
using MapBans = std::set<std::pair<size_t, uint32_t>>;

/// `guesses`: parts of groups without a price are candidates, at the least that they could cost.
ModelProblem priced_problem(const MapTask& task, const MapModels& models, const MapPrices& prices,
                            const MapBans& banned = {}, bool guesses = false);

}  // namespace baton
