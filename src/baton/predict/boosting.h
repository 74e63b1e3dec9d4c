#pragma once
// Training of trees by XGBoost, whose library is loaded when it is first asked for: `libxgboost.so` of the
// system, or the file that the environment variable BATON_XGBOOST names (that of the wheel `xgboost`, which
// Python sets by itself).
#include <functional>
#include <string>

#include "baton/predict/trees.h"

namespace baton {

struct BoostOptions {
  int rounds = 500;
  double eta = 0.1;               ///< learning rate
  int depth = 8;                  ///< of a tree, at most
  double min_child_weight = 0.5;  ///< rows of a leaf, by weight
  double row_part = 0.8;          ///< of the rows that a tree sees
  double column_part = 0.6;       ///< of the features that a tree sees
  int bins = 64;                  ///< values that a feature is compared with, at most
  double lambda = 1;              ///< L2 on leaves
  int forest = 0;                 ///< > 0: a random forest of so many trees, in one round without shrinkage
  uint32_t seed = 1;              ///< same seed, same trees
  int threads = 2;
  /// Told of so many more trees, now and then, by the thread that makes them.
  std::function<void(int)> made = {};
};

/// Why XGBoost cannot be used; empty: it can.
std::string no_xgboost();

/// Least squares of `labels`, weighted (> 0). The same input gives the same trees, whatever `threads` is.
/// Throws Error when XGBoost is not installed (what to install), or refuses.
Trees boost(const FeatureRows& rows, std::span<const float> labels, std::span<const float> weights,
            const BoostOptions& options);

}  // namespace baton
