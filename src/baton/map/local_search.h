#pragma once
// Makes any cost of a mapping lower by small changes of the choice, from where a search along the graph
// ended.
#include <atomic>
#include <functional>

#include "baton/map/problem.h"

namespace baton {

/// The cost of a mapping that can run.
using MappingCost = std::function<double(const MappingSolution&)>;

struct LocalSearchOptions {
  double seconds = 5;
  int kicks = 150;  ///< restarts from the best found, with parts of it elsewhere, at random
  const std::atomic<bool>* interrupt = nullptr;
};

/// The cheapest mapping found, not dearer than `start`, a mapping that can run; `us` is its cost. Moves: a
/// run of neighbouring choices goes to one device, or one candidate takes the place of those that it
/// overlaps. The same result in every run, unless the time is over. Throws Interrupted.
MappingSolution improved(const MappingProblem& problem, const MappingSolution& start, const MappingCost& cost,
                         const LocalSearchOptions& options);

}  // namespace baton
