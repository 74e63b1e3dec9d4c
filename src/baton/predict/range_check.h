#pragma once
// Whether a kernel is like those that a predictor was trained with.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "baton/predict/features.h"
#include "baton/predict/trees.h"

namespace baton {

/// The rule: each feature that counts (FeatureInfo::is_near) is compared with the range that training had,
/// and the kernel with its nearest neighbours among at most kMostNeighbours training kernels of its kind, in
/// units of the features' standard deviations.
struct RangeCheck {
  static constexpr size_t kMostNeighbours = 800;  // of a kind
  static constexpr float kStep = 1 / 64.0F;       // of scaled columns of neighbours, in 16 bits

  std::vector<int> columns;                           ///< the features that count
  std::vector<int> kinds;                             ///< those that say of which kind a kernel is
  std::vector<float> low, high, scale;                ///< by column
  std::map<uint32_t, std::vector<float>> neighbours;  ///< by kind: rows of scaled columns
  double limit = 1;  ///< the distance that 97.5 % of the kernels held out in training stayed below

  static RangeCheck of(const FeatureSpace& space, const FeatureRows& rows);
  /// To the two nearest neighbours, on average.
  double distance(std::span<const float> row) const;
  /// "log2 in channels 13.0, in training at most 11.2"; empty: inside.
  std::string outside(std::span<const float> row, const FeatureSpace& space) const;

 private:
  uint32_t kind_of(std::span<const float> row) const;
};

}  // namespace baton
