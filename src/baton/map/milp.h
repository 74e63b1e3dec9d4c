#pragma once
// The mapping problem as a mixed integer linear program, solved by CBC.
#include <atomic>
#include <optional>

#include "baton/map/problem.h"

namespace baton {

struct MilpOptions {
  double seconds = 30;
  double gap = 1e-6;  ///< relative; smaller ones are optimal
  std::optional<MappingSolution> start = {};
};

struct MilpResult {
  std::optional<MappingSolution> solution;  ///< none: none found in time, or there is none
  bool infeasible = false;                  ///< there is none
  double bound_us = 0;                      ///< no mapping is faster
};

/// Every limit is kept exactly; a value takes at most two direct conversions to a consumer. Choices that wait
/// for each other in a circle are excluded one by one as they turn up. Not to be called by several threads at
/// once.
MilpResult solve_milp(const MappingProblem& problem, const MilpOptions& options);

}  // namespace baton
