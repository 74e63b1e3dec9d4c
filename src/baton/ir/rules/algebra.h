#pragma once
// Algebraic properties of operators, read by SimplifyExpr, LazyGradientInit, the pattern matcher and constant
// folding. Attached through OpDef::rules; an operator has those that apply to it.
#include <optional>
#include <string_view>

#include "baton/ir/expr.h"

namespace baton {

/// The elementwise arithmetic operation over two broadcast operands.
enum class Arithmetic { kSum, kDifference, kProduct, kQuotient };

/// Every element of the result is `value`, or the last argument, a scalar, when `value` is not set.
struct FilledWith {
  std::optional<double> value;
};

/// The result depends only on the type of the single argument: its extents, or their product.
enum class ValueOfType { kExtents, kSize };

/// The operator uses only the shape or type of one of its arguments.
struct LikeRule {
  int model;  ///< the index of that argument
  /// The equivalent call without that argument; `type` is the static type of the call.
  Expr (*concrete)(const CallNode& call, const TensorTypeNode& type);
};

/// The result depends on the order of the elements only: invariant under increasing functions.
struct OrderOnly {};

/// For binary operators with a broadcast fusion pattern that do not broadcast: the second input is a vector
/// along an axis, or used for its shape only, so it must not be replaced by a scalar.
struct NotBroadcast {};

/// Elementwise in the first input; the others are vectors along axis `axis` (an attribute) of it.
struct AlongAxis {
  /// The operator without attributes that does the same with operands that broadcast; empty: there is none.
  std::string_view broadcasting;
};

}  // namespace baton
