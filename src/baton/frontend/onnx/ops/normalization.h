#pragma once
// Normalization of the last axes, which operators of ONNX and of com.microsoft have in common.
#include "baton/frontend/onnx/conversion.h"

namespace baton::onnx {

struct LastAxes {
  Expr data, scale;
  Expr shift = {};  ///< null: none
  int axis = -1;    ///< the first of the normalized axes
  double epsilon = 1e-5;
  bool centres = true;  ///< less the mean; else it is the root of the mean square that becomes 1
  bool wants_statistics = false;
};

struct Normalized {
  Expr result;
  Expr mean, inverse;  ///< in float32 for shorter types; null where they are not wanted or do not exist
};

/// scale * (data - mean) / sqrt(variance + epsilon) + shift, with statistics in `stash`.
Normalized normalized(const Conversion& c, const LastAxes& how, DType stash);
/// In float32, or float64 for data in it.
DType stash_for(DType type);

}  // namespace baton::onnx
