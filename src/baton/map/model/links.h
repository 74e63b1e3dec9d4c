#pragma once
// The prices of copies between the memories of devices.
#include <atomic>
#include <optional>
#include <vector>

#include "baton/map/model/map_task.h"

namespace baton {

/// [from][to]: between devices of MapTask::machine; nullopt: there is no direct way.
using MapLinks = std::vector<std::vector<std::optional<MappingConversion>>>;

/// Links between the processor and each other device, measured or predicted. Throws Error when nothing can be
/// copied, or when neither the predictor nor a device sheet knows the link.
MapLinks price_links(const MapTask& task, const MapRun& run);

/// The time, with copies, of the mapping that would be the best if copies cost nothing; 0: there is none.
/// Throws Interrupted.
double us_without_links(const MappingProblem& problem, const std::atomic<bool>* interrupt);

}  // namespace baton
