#pragma once
// A mapping's report for people and programs. The JSON is a contract: docs/design/0040-mapping.md.
#include <string>

#include "baton/map/model/map_model.h"
#include "baton/map/model/sweep.h"
#include "baton/support/json.h"

namespace baton {

std::string map_table(const MapReport& report);
std::string sweep_table(const MapSweep& sweep);
/// `sweeps`: those asked for.
Json map_json(const MapResult& result, const std::vector<MapSweep>& sweeps = {});
Json sweep_json(const MapReport& report, const MapSweep& sweep);

}  // namespace baton
