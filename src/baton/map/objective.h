#pragma once
// What a mapping makes small: the run of one input with one thing after the other, the same with devices and
// links side by side, the time per input of a stream, or the energy of a run.
#include <atomic>
#include <string>

#include "baton/map/problem.h"

namespace baton {

enum class MapObjective {
  kSerial,      ///< one input; one thing after the other, as the executor runs it
  kLatency,     ///< one input; devices and links side by side
  kThroughput,  ///< a stream of inputs: the time per input, which is that of the busiest device or link
  kEnergy,      ///< one input; microjoules of the whole machine, one thing after the other
};

/// "serial", "latency", "throughput", "energy".
std::string objective_name(MapObjective objective);
/// Throws UsageError for other names.
MapObjective parse_objective(const std::string& name);

/// The cost of a mapping by the prices of the problem: microseconds; by kEnergy prices are microjoules, and
/// so is their sum.
double objective_us(const MappingProblem& problem, const MappingSolution& solution, MapObjective objective);

/// The best mapping found within `seconds`, from the optimum of the serial sum: `us` is its objective_us()
/// and not above that of `serial`; bound_us holds for every mapping. Throws Interrupted.
MappingSolution search_objective(const MappingProblem& problem, const MappingSolution& serial,
                                 MapObjective objective, double seconds, const std::atomic<bool>* interrupt);

}  // namespace baton
