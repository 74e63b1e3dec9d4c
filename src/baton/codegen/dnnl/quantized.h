#pragma once
#include <optional>

#include "baton/byoc/pattern_table.h"

namespace baton {

/// A quantised layer up to the rounding of its result, and what is added behind that.
struct QuantizedLayer {
  const CallNode* layer = nullptr;  ///< qnn.conv2d or qnn.dense; its weight is a constant
  NDArray bias;                     ///< int32, by channel; undefined: none
  int32_t data_zero = 0;
  std::vector<double> factors;  ///< of the sums, to units of the rounded result: one, or one by channel
  double zero = 0;              ///< the zero point of the rounded result
  double low = 0, high = 0;     ///< bounds of the rounded result, its zero point included
  /// The other operand of a qnn.add; null: none. The sum is
  /// round(own_factor * result + own_shift) + other_factor * other + shift.
  Expr other = {};
  double own_factor = 1, own_shift = 0, other_factor = 0, shift = 0;
  double least = 0, most = 0;  ///< bounds of the result
};

/// The layer that `root` rounds; null when it is no such expression. `root`: typed.
std::optional<QuantizedLayer> quantized_layer(const Expr& root);

/// `dnnl.qnn.conv2d`, `dnnl.qnn.conv2d_sum` and those of dense layers, the largest first. Results are rounded
/// from float32, where Baton's own kernels multiply by fixed-point numbers.
PatternTable dnnl_quantized_layers();

}  // namespace baton
