#pragma once
// How an operator between qnn.dequantize and qnn.quantize computes on the quantised numbers themselves. An
// operator's block carries its rule; FakeQuantizationToInteger reads it.
#include <functional>
#include <optional>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// The number that an element stands for is (element - zero_point) * scale. A tuple has types of its fields
/// instead.
struct AffineType {
  Expr scale, zero_point;  ///< float32 and int32, scalars or one value per channel; null for a tuple
  DType dtype;
  int axis = -1;  ///< of the channels
  std::vector<AffineType> fields;

  bool is_tuple() const { return !scale; }
  /// Whether scale or zero point have one value per channel.
  bool per_channel() const;
};

struct AffineExpr {
  Expr expr;
  AffineType type;
};

/// A call inside such a region, as its rule sees it.
struct FakeQuantizedCall {
  const CallNode& call;  ///< over float arguments, as in the program
  /// Its arguments on quantised numbers. A constant of the program has no affine type: rules quantise it as
  /// they need it.
  struct Arg {
    Expr expr;
    std::optional<AffineType> type;
  };
  std::vector<Arg> args;
  /// What the region is quantised to at its end; null where that is open (use_qat).
  const AffineType* out;
};

struct FakeQuantizationRule {
  /// What takes the call's place. Nothing when it cannot be done: then the region stays as it is.
  std::function<std::optional<AffineExpr>(const FakeQuantizedCall&)> rewrite;
};

}  // namespace baton
