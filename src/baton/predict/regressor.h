#pragma once
// One predictor of kernel times: boosted trees on the logarithm of time over a base, their spread, and how
// far off they were on kernels that they had not seen.
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baton/predict/boosting.h"
#include "baton/predict/range_check.h"
#include "baton/predict/term_base.h"

namespace baton {

/// How far off a prediction may be.
struct Doubts {
  double spread = 0;        ///< the size of error to expect, in the logarithm
  double novelty = 0;       ///< distance over the limit: above 1 out of range
  double disagreement = 0;  ///< standard deviation of what the members say, by their first trees
};

/// A time on a logarithmic scale.
struct LogTime {
  double log_us = 0;
  Doubts doubts;
};

/// A predicted time.
struct TimePrediction {
  double us = 0, low_us = 0, high_us = 0;  ///< the interval has the level asked for
  Doubts doubts;
  std::string out_of_range;  ///< why the prediction is only a guess; empty: it is not
  /// Training has too little of its kind, "convolutions": the time is that of the roofline. Else empty.
  std::string too_few;
};

/// What training has of the kernels of one kind (cost_class() of the anchor).
struct KindLimits {
  int64_t kernels = 0;
  double low = 0, high = 0;  ///< of the logarithm of their times over roofline_time()
  /// The least of their times over least_us(): below 1 where the sheet's peaks are too low.
  double fastest = 1;
};

/// Kernels to train with: one entry of each list per kernel.
struct LearningSet {
  std::vector<const KernelCase*> cases;
  std::vector<double> us, weights;  ///< weight 0: to be predicted, not learned from
};

/// Indices into a LearningSet. No fused function is in both.
struct Fold {
  std::vector<int> train, test;
};

struct Regressor {
  FeatureSpace space;
  TermBase base;               ///< what times are learned over, without a source
  double centre = 0;           ///< mean of the logarithms of time over base
  std::vector<Trees> members;  ///< one per fold: their mean is the prediction
  std::vector<Trees> spreads;  ///< of the logarithm of the error's size
  /// |error| / spread of kernels that their member had not seen, ascending: the conformal calibration.
  std::vector<double> scores;
  RangeCheck range;
  std::map<std::string, KindLimits> kinds;
  /// Where training carried a predictor of other hardware over: the base is its prediction.
  std::shared_ptr<const Regressor> source;
  int64_t trained_on = 0;  ///< kernels

  /// In the order of `cases`.
  std::vector<LogTime> log_times(std::span<const KernelCase* const> cases, const FeatureRows& rows) const;
  std::vector<LogTime> log_times(std::span<const KernelCase* const> cases) const;
  std::vector<TimePrediction> predict(std::span<const KernelCase* const> cases, double level) const;
  /// The limits of training, both here and before the predictor was carried over.
  KindLimits limits_of(const std::string& kind) const;
  /// What the error divided by the spread stays below, with probability `level`.
  double score_at(double level) const;
  /// Features by how much trees use them, the most used first; sums to 1.
  std::vector<std::pair<std::string, double>> importance() const;
};

/// The logarithm of roofline_time().
double log_roofline_us(const KernelCase& kernel);

struct FittedRegressor {
  Regressor regressor;
  std::vector<std::vector<LogTime>>
      held_out;  ///< by fold: of its tests, by the member that has not seen them
};

struct RegressorOptions {
  BoostOptions boost;
  int spread_rounds = 100;
  bool disagreement = true;  ///< whether to learn how members disagree about kernels that they have not seen
};

/// How many trees fit_regressor() makes, at most.
int trees_to_fit(size_t folds, const RegressorOptions& options);

/// Throws Error when there are too few kernels (kLeastKernels).
FittedRegressor fit_regressor(const LearningSet& set, std::span<const Fold> folds,
                              const RegressorOptions& options,
                              std::shared_ptr<const Regressor> source = nullptr);

constexpr size_t kLeastKernels = 20;
constexpr int64_t kLeastOfTrainedKind = 10;  // kernels that a kind needs, to be predicted
constexpr double kUnseenNovelty = 3;         // of an operator that training had not

/// Split-conformal: the score that a fraction `level` of new cases stays below, by exchangeability with
/// `scores` (ascending). Where there are too few for the level, the greatest score, widened.
double conformal_score(std::span<const double> scores, double level);

}  // namespace baton
