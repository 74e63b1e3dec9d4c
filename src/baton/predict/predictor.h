#pragma once
// Predictors of the times of kernels, their insides, transfers and whole models: what `baton train` writes
// and `baton predict` reads. See docs/design/0039-prediction.md.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baton/predict/dataset.h"
#include "baton/predict/model_range.h"
#include "baton/predict/regressor.h"
#include "baton/support/json.h"

namespace baton {

/// The time of a whole model: scale * the sum of its kernels + per_call * their calls + once.
struct ModelTotal {
  double scale = 1, per_call_us = 0, once_us = 0;
  std::vector<double> scores;  ///< |error| / spread of models held out, ascending
  ModelRange range;
  int64_t trained_on = 0;  ///< models

  double us(double sum_us, double calls) const { return scale * sum_us + per_call_us * calls + once_us; }
};

/// The time of a copy between two devices: latency_us + bytes / rate.
struct TransferTime {
  double latency_us = 0, us_per_byte = 0;
  std::vector<double> scores;  ///< |log error|, ascending
  double least_bytes = 0, most_bytes = 0;
  double us(double bytes) const { return latency_us + us_per_byte * bytes; }
};

/// A machine that was trained on.
struct TrainedMachine {
  std::string name;                           ///< Measurement::machine
  std::map<std::string, DeviceSheet> sheets;  ///< by backend
  int64_t kernels = 0;                        ///< that were measured there
};

/// Relative errors of what training held out, by members that had not seen it: what is in training with
/// other sizes. `baton train --evaluate` says more.
struct HeldOutErrors {
  int64_t count = 0;
  double median = 0, within_10 = 0;
};

/// What a predictor says of itself.
struct ModelCard {
  std::string name;     ///< of the device: `--for-device` takes it; empty: it has those of its machines
  std::string version;  ///< of Baton
  std::string date;     ///< "2026-11-24"
  std::vector<std::string> machines, campaigns, backends;
  std::vector<std::string> precisions{"f32"};  ///< of the builds, sorted
  std::vector<int> threads;                    ///< of the runs, ascending
  std::map<std::string, int64_t> families;     ///< models of each
  int64_t rows = 0, kernels = 0, models = 0;
  std::map<std::string, int64_t> left_out;        ///< rows by reason; kernels of backends without a predictor
  int64_t without_clock = 0;                      ///< Dataset::without_clock
  std::map<std::string, HeldOutErrors> held_out;  ///< "kernels of llvm", "models of llvm"
  Json accuracy;                                  ///< of an Evaluation; null: not evaluated
  std::string carried_from;  ///< the device of the predictor that training started from; empty: none
};

/// One kernel of a model to predict, and how often it is called.
struct ModelKernel {
  TimePrediction time;
  double calls = 1;
};

class Predictor {
 public:
  std::map<std::string, Regressor> kernels;       ///< by backend
  std::map<std::string, Regressor> parts;         ///< by backend; where insides were measured
  std::map<std::string, ModelTotal> totals;       ///< by backend of the model
  std::map<std::string, TransferTime> transfers;  ///< "cpu opencl"
  std::vector<TrainedMachine> machines;           ///< that of most kernels first
  ModelCard card;

  /// In the order of `cases`. Throws Error for a backend without a predictor. `level`: of the interval.
  std::vector<TimePrediction> predict(std::span<const KernelCase* const> cases, double level = 0.9) const;
  /// The time of the whole model built for `backend`.
  TimePrediction predict_model(const std::string& backend, std::span<const ModelKernel> kernels,
                               double transfers_us = 0, double level = 0.9) const;
  /// The portions of the time of a kernel that its operators take; sums to 1. Empty: parts of such kernels
  /// were not measured.
  std::vector<double> shares(std::span<const KernelCase* const> parts) const;
  /// The time of a copy; `sheet`: whose link is asked where no transfer was measured.
  TimePrediction predict_transfer(const std::string& from, const std::string& to, double bytes,
                                  const DeviceSheet& sheet, double level = 0.9) const;
  /// What `--for-device` may say: the predictor's name, and those of its machines.
  std::vector<std::string> device_names() const;
  /// The machine of that name, or of the predictor's; null: it has none.
  const TrainedMachine* machine_named(const std::string& name) const;
};

struct TrainOptions {
  RegressorOptions regressor;
  int folds = 5;
  uint32_t seed = 1;
  std::string only_backend;               ///< empty: all in the data
  std::string name;                       ///< ModelCard::name
  std::shared_ptr<const Predictor> from;  ///< carried over to the data's device
  /// What is done, how many of its steps are, and of how many; 0: not known.
  std::function<void(const std::string& what, int done, int total)> progress;
};

/// Trains with the given kernels and models of the data; the card is left to the caller. Throws Error for
/// data that nothing can be learned from.
Predictor train(const Dataset& data, std::span<const int> kernels, std::span<const int> models,
                const TrainOptions& options);
/// With all of it, and the card.
Predictor train(const Dataset& data, const TrainOptions& options);

/// How far the predictor's errors on the data's kernels of `backend` lie apart, in the logarithm (their
/// robust deviation): what carrying it over has to learn. Infinite where it has no such kernels.
double error_spread(const Predictor& predictor, const Dataset& data, const std::string& backend);

/// The candidate with the least error on families held out; `candidates` is not empty.
BoostOptions best_options(const Dataset& data, std::span<const BoostOptions> candidates,
                          const TrainOptions& options);

std::vector<int> all_indices(size_t count);

}  // namespace baton
