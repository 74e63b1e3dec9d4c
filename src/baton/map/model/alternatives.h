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

struct AlternativeOptions {
  std::vector<std::string> backends;  ///< names, by ModelPrices::backends
  std::vector<bool> layers;  ///< by operator of the program: whether its variants are places of their own
  MapObjective objective = MapObjective::kSerial;
  double seconds = 10;
  const std::atomic<bool>* interrupt = nullptr;
};

/// The best mapping with each operator in each other place (a backend, or a variant of it), beside `best`.
/// Throws Interrupted.
Alternatives find_alternatives(const ModelProblem& model, const MappingSolution& best,
                               const AlternativeOptions& options);

}  // namespace baton
