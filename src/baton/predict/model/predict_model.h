#pragma once
// A model's times by a predictor, as the report that profiling it would give. Nothing is compiled or run.
#include "baton/driver/build.h"
#include "baton/predict/model/predict_options.h"
#include "baton/profile/report/rows.h"

namespace baton {

struct PredictedReport {
  ProfileReport report;  ///< ProfileReport::predicted says by what; the caller sets model and source
  double schedules_s = 0, predict_s = 0;  ///< choosing schedules; from the fused module to all times
};

/// `built`: of plan_build(). Throws NotPredicted for a target that the predictor does not know, a kernel of a
/// backend that it has none of, and a model that spends its time in kinds of kernels that training had too
/// few of.
PredictedReport predict(const BuildResult& built, const PredictOptions& options);

}  // namespace baton
