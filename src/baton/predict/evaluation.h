#pragma once
// How good a predictor is: on models and families that it has not seen, beside simpler ones, and beside the
// noise of the measurements.
#include <ostream>
#include <string>
#include <vector>

#include "baton/predict/predictor.h"

namespace baton {

/// How predicted times compare with measured ones. Errors are |predicted / measured - 1|.
struct Accuracy {
  int64_t count = 0;
  double median_error = 0, p90_error = 0;
  double within_5 = 0, within_10 = 0, within_20 = 0;  ///< fractions
  double kendall_tau = 0;                             ///< of the order by time
  double coverage = -1, width = -1;  ///< of the 90 % intervals: hits, and the median of (high - low) /
                                     ///< predicted; -1: there are none
  double flagged = 0;                ///< fraction out of range
  int64_t large = 0;                 ///< errors over 20 %
  double large_flagged = 1;          ///< fraction of these that is flagged
};

struct PredictedTime {
  std::string name, family;
  double measured_us = 0;
  TimePrediction predicted;
};
Accuracy accuracy_of(std::span<const PredictedTime> times, bool has_intervals);

struct AccuracyRow {
  std::string of;  ///< "kernels" or "models"
  std::string backend;
  std::string held_out;   ///< "model", "model, seen kernels allowed", "family", "family resnet", or "larger"
                          ///< (the fifth of the models that takes longest); "-" for noise
  std::string predictor;  ///< "baton", "operations", "roofline", "forest on shapes", "measured again"
  Accuracy accuracy;
};

/// Coverage of intervals by level.
struct CalibrationRow {
  std::string of, backend, held_out;
  double level = 0, coverage = 0;
};

struct Evaluation {
  std::vector<AccuracyRow> rows;
  std::vector<CalibrationRow> calibration;
  struct Points {
    std::string of, backend, held_out;
    std::vector<PredictedTime> times;
  };
  std::vector<Points> points;         ///< of "baton"
  std::vector<std::string> left_out;  ///< what could not be judged, and why

  const AccuracyRow* find(std::string_view of, std::string_view backend, std::string_view held_out,
                          std::string_view predictor) const;
};

struct EvaluateOptions {
  TrainOptions train;
  int folds = 5;  ///< of models that are held out; 0: none are
  bool families = true, sizes = true, seen_kernels = true, baselines = true;
};

/// Trains folds, twice where seen kernels are asked for, and families predictors. Throws Error when there are
/// too few models to hold any out.
Evaluation evaluate(const Dataset& data, const EvaluateOptions& options);

Json evaluation_json(const Evaluation& evaluation);
void write_evaluation(std::ostream& out, const Evaluation& evaluation);
/// A page with the tables, calibration plots, predicted against measured times, and what trees use.
std::string evaluation_page(const Evaluation& evaluation, const Predictor& predictor);

/// Accuracy on kernels that were not chosen, by how many of the data's kernels were trained with.
struct CarryRow {
  int kernels = 0;
  Accuracy carried, scratch;  ///< without `from`; count 0: too few to train with
};
/// `from` carried over to the device of `data`, a curve over `sizes`; 0 kernels: `from` as it is.
std::vector<CarryRow> carry_curve(const Dataset& data, const std::string& backend,
                                  std::shared_ptr<const Predictor> from, std::span<const int> sizes,
                                  const TrainOptions& options);
void write_carry_curve(std::ostream& out, std::span<const CarryRow> rows);
/// For few kernels: small trees.
BoostOptions few_kernels_options(BoostOptions options);

}  // namespace baton
