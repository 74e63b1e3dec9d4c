#pragma once
// A model's times by a predictor, as the report that profiling it would give. Nothing is compiled or run.
#include <optional>
#include <string>

#include "baton/driver/build.h"
#include "baton/predict/model/predicted_device.h"
#include "baton/predict/predictor.h"
#include "baton/profile/report/rows.h"
#include "baton/store/store.h"

namespace baton {

struct PredictOptions {
  const Predictor* predictor = nullptr;  ///< null: what the store does not have is not a number
  std::string predictor_name;            ///< in the report: its file
  PredictedDevice device;                ///< whose times they are; of a predictor
  const Store* store = nullptr;          ///< its measurements answer where they are of this very kernel
  int threads = 0;                       ///< of the runs; 0: the most that the predictor was trained with
  double level = 0.9;                    ///< of the intervals
  BuildContext context;                  ///< as of plan_build(): context_of_device()
};

struct PredictedReport {
  ProfileReport report;  ///< ProfileReport::predicted says by what; the caller sets model and source
  double schedules_s = 0, predict_s = 0;  ///< choosing schedules; from the fused module to all times
};

/// `built`: of plan_build(). Throws Error for a target that the predictor does not know, a kernel of a
/// backend that it has none of, and a model that spends its time in kinds of kernels that training had too
/// few of.
PredictedReport predict(const BuildResult& built, const PredictOptions& options);

}  // namespace baton
