#pragma once
// What every operator would cost elsewhere: the best mapping with it there.
#include <atomic>
#include <string>
#include <vector>

#include "baton/driver/mapping/mapping.h"
#include "baton/map/model_problem.h"
#include "baton/map/objective.h"

namespace baton {

struct AlternativeOptions {
  std::vector<std::string> backends;  ///< names, by ModelPrices::backends
  std::vector<bool> layers;           ///< by operator: whether its variants are places of their own
  MapObjective objective = MapObjective::kSerial;
  double seconds = 10;
  const std::atomic<bool>* interrupt = nullptr;
};

struct Alternatives {
  std::vector<std::vector<MappedAlternative>> of;  ///< by operator
  bool complete = true;                            ///< else the time was over
};

/// Of `best`, the best mapping of the problem. Throws Interrupted.
Alternatives alternatives(const ModelProblem& model, const MappingSolution& best,
                          const AlternativeOptions& options);

}  // namespace baton
