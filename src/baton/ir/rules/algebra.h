#pragma once
// What SimplifyExpr, LazyGradientInit, the pattern matcher and constant folding know of an operator without
// its values. Attached through OpDef::rules; an operator carries what holds for it.
#include <optional>

#include "baton/ir/expr.h"

namespace baton {

/// Which operation of arithmetic the operator is, element by element over two tensors that broadcast.
enum class Arithmetic { kSum, kDifference, kProduct, kQuotient };

/// Every element of the result is `value`; where that is open, the first argument, a scalar.
struct FilledWith {
  std::optional<double> value;
};

/// What the type of the one argument says alone: its extents, or the product of them.
enum class ValueOfType { kExtents, kSize };

/// The operator asks another tensor for its shape or type only.
struct LikeRule {
  int model;  ///< the argument that is asked
  /// The call without that argument: `type`, which is static, is what the call has, and says all.
  Expr (*concrete)(const CallNode& call, const TensorTypeNode& type);
};

/// The result depends on the order of the elements, not on how far they lie apart.
struct OrderOnly {};

/// Of operators of two inputs that are fused like those that broadcast: the second is a vector along an axis,
/// or only there for its shape, so that no scalar may take its place.
struct NotBroadcast {};

}  // namespace baton
