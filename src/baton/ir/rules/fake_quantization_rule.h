#pragma once
// How an operator between qnn.dequantize and qnn.quantize is computed in integers. Attached to operators
// through OpDef::rules, read by FakeQuantizationToInteger.
#include <functional>
#include <optional>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// An affine quantisation: real value = (element - zero_point) * scale. A tuple has the AffineTypes of its
/// fields instead.
struct AffineType {
  /// float32 and int32, scalars or one value per channel, typed; null for a tuple.
  Expr scale, zero_point;
  DType dtype;
  int axis = -1;  ///< the channel axis
  std::vector<AffineType> fields;

  bool is_tuple() const { return !scale; }
  /// Whether scale or zero point are per channel.
  bool per_channel() const;
};

struct AffineExpr {
  Expr expr;
  AffineType type;
};

/// A call inside such a region, as seen by its rule.
struct FakeQuantizedCall {
  const CallNode& call;  ///< over float arguments, as in the program
  /// A quantised argument. A constant of the program has no affine type: rules quantise it as needed.
  struct Arg {
    Expr expr;
    std::optional<AffineType> type;
  };
  std::vector<Arg> args;
  /// The affine type at the end of the region; null when unspecified (use_qat).
  const AffineType* out;
};

struct FakeQuantizationRule {
  /// The integer replacement of the call; nullopt, or NotSupported with a reason, when unsupported: the
  /// region is then unchanged.
  std::function<std::optional<AffineExpr>(const FakeQuantizedCall&)> rewrite;
  /// Whether use_qat changes the operator where no qnn.quantize follows: those that keep their argument's
  /// quantisation, and products.
  bool without_end = true;
};

}  // namespace baton
