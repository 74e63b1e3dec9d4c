#pragma once
// Interpolation: resizing over 1, 2 or 3 spatial axes, and sampling of data between its elements.
#include <string>
#include <vector>

#include "baton/ir/layout.h"
#include "baton/ops/compute_util.h"

namespace baton {

struct Resize {
  int count = 0;  ///< spatial axes
  Layout layout;
  std::string method;    ///< "nearest_neighbor", "linear" or "cubic"
  std::string mode;      ///< how a result position is mapped to a data position
  std::string rounding;  ///< of "nearest_neighbor"
  double cubic_alpha = -0.5;
  bool cubic_exclude = false;
  double extrapolation_value = 0;
  std::vector<Halide::Expr> roi = {};  ///< all starts, then all ends; only for mode "tf_crop_and_resize"
};

/// Input 0 with the extents of the result.
void resize_compute(Compute& c, const Resize& resize);

/// The four weights of a cubic spline with coefficient `alpha` at distance `t` after the second tap.
std::vector<Halide::Expr> cubic_weights(const Halide::Expr& t, double alpha);

}  // namespace baton
