#pragma once
// What each operator would cost on each other backend, with the copies and what else would move.
#include <atomic>
#include <string>
#include <vector>

#include "baton/driver/mapping/mapping.h"
#include "baton/map/model_problem.h"
#include "baton/map/objective.h"

namespace baton {

/// Transfers of values between devices.
struct Transfers {
  int count = 0;
  double bytes = 0, us = 0;
};
Transfers transfers_of(const MappingProblem& problem, const std::vector<MappingStep>& steps);

struct Alternatives {
  std::vector<std::vector<MappedAlternative>> by_operator;
  bool complete = true;  ///< false: the time was over before all were found
};

/// The best mapping with each operator on each other backend, beside `best`. `operators`: how many the
/// program has. Throws Interrupted.
Alternatives find_alternatives(const ModelProblem& model, const MappingSolution& best,
                               const std::vector<std::string>& backends, size_t operators,
                               MapObjective objective, double seconds, const std::atomic<bool>* interrupt);

}  // namespace baton
