#pragma once
// `baton train` and `baton predict`.
#include <optional>
#include <string>
#include <vector>

#include "baton/predict/evaluation.h"
#include "baton/predict/model/predict_model.h"
#include "baton/support/options/flags.h"

namespace baton {

struct TrainCommand {
  std::string store, from;
  TrainOptions options;
  int seed = 1;
  bool evaluate = false, search = false;
  /// With a source: the accuracy by the number of kernels, beside training from nothing.
  bool curve = false;

  void add(Flags& flags);
};

/// The measurements that are trained with. Throws Error when there is no such store.
Dataset training_data(const TrainCommand& command);

struct Trained {
  Predictor predictor;  ///< its card has the accuracy where it was evaluated
  std::optional<Evaluation> evaluation = {};
  std::vector<CarryRow> curve = {};
};

/// As train(), evaluate() and carry_curve(). `command.options.from` may be set in place of `command.from`.
Trained run_train(const TrainCommand& command, const Dataset& data);

struct PredictCommand {
  std::string predictor, for_device, store;
  int threads = 0;
  double level = 0.9;

  void add(Flags& flags);
};

/// The predictor that the command names, else the one that comes with Baton for its device.
FoundPredictor predictor_of(const PredictCommand& command);

/// Plans `module` for the device and predicts its times; the caller sets the report's model and source.
/// `shown`: the predictor's name, in the report and in errors. Throws NotSupported, which says why, for what
/// is no plan.
ProfileReport run_predict(const PredictCommand& command, const Predictor& predictor, const std::string& shown,
                          const IRModule& module, BuildOptions how);

/// Says in the report of a model whose extents were open that it is predicted with static kernels, which
/// predictors are trained with. `shapes`: what they were given, "n=16".
void note_given_extents(ProfileReport& report, const std::vector<std::string>& shapes);

}  // namespace baton
