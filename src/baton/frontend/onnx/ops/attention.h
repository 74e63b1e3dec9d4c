#pragma once
// Attention over heads: what the operators of ONNX and those of com.microsoft have in common.
#include "baton/frontend/onnx/conversion.h"

namespace baton::onnx {

/// (batch, length, heads * size) -> (batch, heads, length, size)
Expr split_heads(const Conversion& c, const Expr& data, int64_t heads);
/// The inverse.
Expr join_heads(const Conversion& c, const Expr& data);

/// softmax(scale * query * key^T, capped, + bias) * value. All are of rank 4: batch, heads, length, size; the
/// number of the queries' heads is a multiple of that of the others.
struct HeadsAttention {
  Expr query, key, value;
  double scale = 0;             ///< 0: 1 / sqrt(size)
  bool scales_factors = false;  ///< by sqrt(scale) both query and key, as ONNX's operator does
  double softcap = 0;           ///< 0: none
  Expr bias = {};               ///< broadcasts with the scores; null: none
  bool hides_all = false;       ///< whether `bias` may hide every key of a query: its result is then 0
  std::optional<DType> softmax_dtype = {};
};

struct AttentionResult {
  Expr result;
  Expr scores, capped, biased, probabilities;
};
AttentionResult attention_of(const Conversion& c, const HeadsAttention& how);

/// What is added to scores: 0 where the boolean `allowed` holds, else -infinity.
Expr bias_of(const Conversion& c, const Expr& allowed, DType dtype);

/// Where the last `2 * half` elements of each head's first ones turn: `cos` and `sin` are (batch or 1,
/// length, half), `data` is (batch, heads, length, size).
Expr rotated(const Conversion& c, const Expr& data, const Expr& cos, const Expr& sin, bool interleaved);

/// Attribute `name`, a number of heads. Throws Error where it is missing or below 1.
int64_t heads_of(const Conversion& c, const char* name);
/// An extent that has to be known. Throws NotSupported with `what` where it is not.
int64_t known(const Conversion& c, Dim extent, const char* what);

}  // namespace baton::onnx
