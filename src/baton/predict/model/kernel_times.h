#pragma once
// The kernels of a plan as predictors know them, and their times by a predictor, or by a store that has
// measured them.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "baton/driver/build.h"
#include "baton/predict/model/predict_options.h"

namespace baton {

struct KernelTime {
  KernelCase kernel;
  TimePrediction time;
  bool called = false, measured = false;
  bool exact = false;  ///< a simulated device's own time: nothing to predict
};

struct PredictedKernels {
  std::vector<PlannedSchedule> schedules;                            ///< by kernel of the plan
  std::vector<KernelTime> kernels;                                   ///< by kernel of the plan
  std::map<std::string, std::shared_ptr<const DeviceSheet>> sheets;  ///< by backend
  std::vector<std::string> notes;
  std::string other_code;  ///< what differs from the code of the device in training; empty: nothing does
  double schedules_s = 0, predict_s = 0;
};

/// What knows nothing, where PredictOptions::predictor is null.
const Predictor& predictor_of(const PredictOptions& options);

/// Throws NotPredicted as predict() does.
PredictedKernels predict_kernels(const BuildResult& built, const PredictOptions& options, int threads);

}  // namespace baton
