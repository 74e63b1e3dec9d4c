#pragma once
// Quantised tensors under another scale and zero point, in integers:
//   zero point' + clip(round((x - zero point) * scale / scale'))
// The factor scale / scale' is a multiplier of 31 bits and a power of two, so that no float is needed.
#include "baton/ir/rules/legalize_rule.h"
#include "baton/ops/rules/qnn_build.h"

namespace baton::qnn {

/// Throws UsageError for an unknown rounding or type.
void check_requantize_config(const RequantizeConfig& config);

/// A scale and its zero point; scalars or one value per channel.
struct Pair {
  Expr scale, zero_point;
};

struct Requantize {
  Pair from, to;      ///< `to` are scalars
  int64_t axis = -1;  ///< of the channels
  DType out_dtype;
  std::string rounding = "None", compute_dtype = "None";
};

/// `data`, of type `type`, by `how`, with unspecified options from `target`. int32 results are not clipped.
Expr lower_requantize(const Expr& data, const TensorTypeNode& type, const Requantize& how,
                      const LegalizeTarget& target);

/// (x - zero point) * scale in float32, and the other way round.
Expr lower_dequantize(const Expr& data, const TensorTypeNode& type, const Pair& from,
                      const std::vector<Type>& pair_types, int64_t axis);
Expr lower_quantize(const Expr& data, const TensorTypeNode& type, const Pair& to,
                    const std::vector<Type>& pair_types, int64_t axis, DType out_dtype, bool to_even = false);

/// `factor` (>= 0) as multiplier * 2^(shift - 31), where the multiplier has 31 bits, or is 0.
struct FixedPoint {
  int64_t multiplier = 0;
  int shift = 0;
};
FixedPoint fixed_point(double factor);
/// round(x * factor) in 64 bits, halves away from zero, as int32.
Expr multiply_to_nearest(const Expr& x, double factor);

}  // namespace baton::qnn
