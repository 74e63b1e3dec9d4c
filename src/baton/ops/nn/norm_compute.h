#pragma once
// Normalisations by mean and variance, by length, and by neighbours.
#include "baton/ops/compute_util.h"

namespace baton {

/// (data - mean) / sqrt(variance + epsilon) * gamma + beta, where gamma and beta run along `axis`.
struct MomentsNorm {
  int axis = 0;
  std::vector<bool> reduced;  ///< the axes that a mean is taken over
  int64_t groups =
      0;  ///< not 0: `axis` is split into so many groups, each with its mean (and is not in `reduced`)
  double epsilon = 0;
  bool center = true, scale = true;
};
void moments_norm_compute(Compute& c, const MomentsNorm& norm);

/// data / sqrt(max(sum of squares over `axes`, eps)).
void l2_normalize_compute(Compute& c, const std::vector<int64_t>& axes, double eps);

/// data / (bias + alpha / size * sum of squares of `size` neighbours along `axis`) ^ beta.
void lrn_compute(Compute& c, int axis, int64_t size, double bias, double alpha, double beta);

}  // namespace baton
