#include "baton/map/objective.h"

#include "baton/map/queues.h"
#include "baton/support/error.h"

namespace baton {

std::string objective_name(MapObjective objective) {
  switch (objective) {
    case MapObjective::kSerial:
      return "serial";
    case MapObjective::kLatency:
      return "latency";
    case MapObjective::kThroughput:
      return "throughput";
    case MapObjective::kEnergy:
      return "energy";
  }
  return "";
}

MapObjective parse_objective(const std::string& name) {
  for (const MapObjective each :
       {MapObjective::kSerial, MapObjective::kLatency, MapObjective::kThroughput, MapObjective::kEnergy})
    if (name == objective_name(each)) return each;
  throw UsageError("`" + name + "` is no objective: there are serial, latency, throughput and energy");
}

double objective_us(const MappingProblem& problem, const MappingSolution& solution, MapObjective objective) {
  switch (objective) {
    case MapObjective::kLatency:
      return latency_us(problem, solution);
    case MapObjective::kThroughput:
      return interval_us(problem, solution);
    case MapObjective::kSerial:
    case MapObjective::kEnergy:
      break;
  }
  double us = 0;
  for (const int c : solution.chosen) us += problem.candidates[static_cast<size_t>(c)].us;
  for (const MappingStep& step : solution.steps) us += problem.conversion_us(step.value, step.from, step.to);
  return us;
}

MappingSolution search_objective(const MappingProblem& problem, const MappingSolution& serial,
                                 MapObjective objective, double seconds, const std::atomic<bool>* interrupt) {
  if (objective == MapObjective::kSerial || objective == MapObjective::kEnergy) return serial;
  const QueueOptions options{.seconds = seconds, .interrupt = interrupt};
  if (objective == MapObjective::kLatency) return search_latency(problem, serial, options);
  MappingSolution best = serial;
  best.us = interval_us(problem, serial);
  best.bound_us = 0;
  if (const auto found = search_throughput(problem, options)) {
    const double bound_us = found->bound_us;
    if (found->us < best.us) best = *found;
    best.bound_us = std::min(bound_us, best.us);
    best.method = found->method;
  }
  return best;
}

}  // namespace baton
