#pragma once
// Helpers for rules of quantised operators: accessors for calls, and builders of results.
#include <vector>

#include "baton/ir/rules/legalize_rule.h"
#include "baton/ops/qnn/requantize.h"

namespace baton::qnn {

inline const TensorTypeNode& tensor_of(const Type& type) { return *as_type<TensorTypeNode>(type); }

/// Arguments `scale` and `scale + 1`, a scale and its zero point, and their types.
inline Pair pair_at(const CallNode& call, size_t scale) {
  return {call.args()[scale], call.args()[scale + 1]};
}
inline std::vector<Type> pair_types(const std::vector<Type>& types, size_t scale) {
  return {types[scale], types[scale + 1]};
}

/// Whether both are known and equal.
inline bool same_pair(const Pair& a, const Pair& b) {
  return same_scalar(a.scale, b.scale) && same_scalar(a.zero_point, b.zero_point);
}

/// Clipped to the limits of `dtype`, and cast to it.
inline Expr narrowed(const Expr& x, DType dtype) { return cast_to(clip_to(x, dtype), dtype); }

}  // namespace baton::qnn
