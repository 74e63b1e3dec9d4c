#pragma once
#include <string>

#include "baton/pass/build_context.h"
#include "baton/predict/model/predicted_device.h"
#include "baton/predict/predictor.h"
#include "baton/store/store.h"
#include "baton/support/error.h"

namespace baton {

/// A target or kinds of kernels that the predictor does not know.
class NotPredicted : public Error {
 public:
  using Error::Error;
};

/// By what a model's times are predicted, and whose times they are.
struct PredictOptions {
  const Predictor* predictor = nullptr;  ///< null: what the store does not have is not a number
  std::string predictor_name;            ///< in the report: its file
  PredictedDevice device;                ///< whose times they are; of a predictor
  const Store* store = nullptr;          ///< its measurements answer where they are of this very kernel
  int threads = 0;                       ///< of the runs; 0: the most that the predictor was trained with
  double level = 0.9;                    ///< of the intervals
  BuildContext context;                  ///< as of plan_build(): context_of_device()
};

}  // namespace baton
