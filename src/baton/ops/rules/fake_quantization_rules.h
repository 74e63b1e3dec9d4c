#pragma once
// Common fake-quantization rules for operator blocks: `.rules =
// op_rules(FakeQuantizationRule{fake_quantized_same})`; see ir/rules/fake_quantization_rule.h.
#include "baton/ir/rules/fake_quantization_rule.h"

namespace baton {

using FakeQuantizedResult = std::optional<AffineExpr>;

/// How many scales or zero points a quantisation per channel has; nullopt where it is not per channel, or the
/// number is not known.
std::optional<int64_t> channels_of(const AffineType& type);
/// Whether two scales, or two zero points, are equal expressions or nearly equal constants.
bool nearly_equal(const Expr& a, const Expr& b);
bool same_affine(const AffineType& a, const AffineType& b);
/// `type` with elements of `dtype`, which represents at least the same numbers: if only one of both is
/// unsigned, the zero point is moved. Nullopt if `dtype` is narrower, or the zero point is no known scalar.
std::optional<AffineType> with_dtype(const AffineType& type, DType dtype);
/// `arg` requantised to the scale and zero point of `to`; itself when they are equal.
Expr requantized(const Expr& expr, const AffineType& from, const AffineType& to);
/// `vector` (a scale or zero point) of type `dtype`, shaped to broadcast with a tensor of rank `rank` along
/// `axis`. Folded when it is a constant.
Expr spread_as(const Expr& vector, DType dtype, int rank, int axis);

// Unary functions, and binary arithmetic in the quantisation of the result: uses the quantised operator of
// that name.
FakeQuantizationRule fake_quantized_function(const char* name);
FakeQuantizationRule fake_quantized_arithmetic(const char* name);

FakeQuantizedResult fake_quantized_relu(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_clip(const FakeQuantizedCall& at);      ///< its bounds are quantised
FakeQuantizedResult fake_quantized_extremum(const FakeQuantizedCall& at);  ///< of two tensors
/// Means of pools, in the quantisation of the result: in int32, then clipped.
FakeQuantizedResult fake_quantized_average_pool(const FakeQuantizedCall& at);
/// Other means: in int32 to avoid overflow, then converted back.
FakeQuantizedResult fake_quantized_through_int32(const FakeQuantizedCall& at);

// Products: the result has the product of the scales and no zero point.
FakeQuantizedResult fake_quantized_conv2d(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_conv2d_transpose(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_dense(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_batch_matmul(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_bias_add(const FakeQuantizedCall& at);

// Data movement operators: the affine type is unchanged, or its axis moves.
FakeQuantizedResult fake_quantized_same(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_transpose(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_expand_dims(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_reshape(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_strided_slice(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_pad(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_split(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_concatenate(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_topk(const FakeQuantizedCall& at);

}  // namespace baton
