#pragma once
// How operators compute on quantised numbers, for their blocks: `.rules =
// op_rules(FakeQuantizationRule{fake_quantized_same})`; see ir/rules/fake_quantization_rule.h.
#include "baton/ir/rules/fake_quantization_rule.h"

namespace baton {

using FakeQuantizedResult = std::optional<AffineExpr>;

/// Whether two scales, or two zero points, are the same: as expressions, or as constants that are nearly
/// equal.
bool nearly_equal(const Expr& a, const Expr& b);
bool same_affine(const AffineType& a, const AffineType& b);
/// `arg` under the scale and zero point of `to`; itself when they are its own.
Expr requantized(const Expr& expr, const AffineType& from, const AffineType& to);
/// `vector` (a scale or zero point) of type `dtype`, to be broadcast with a tensor of rank `rank` along
/// `axis`. Computed here when it is a constant.
Expr spread_as(const Expr& vector, DType dtype, int rank, int axis);

// Functions of one number, and arithmetic of two on the quanta of the result: by the operator of that name.
FakeQuantizationRule fake_quantized_function(const char* name);
FakeQuantizationRule fake_quantized_arithmetic(const char* name);

FakeQuantizedResult fake_quantized_relu(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_clip(const FakeQuantizedCall& at);      ///< its bounds are quantised
FakeQuantizedResult fake_quantized_extremum(const FakeQuantizedCall& at);  ///< of two tensors
/// Means: sums in int32, so that they do not overflow, and back.
FakeQuantizedResult fake_quantized_through_int32(const FakeQuantizedCall& at);

// Products: the result has the product of the scales and no zero point.
FakeQuantizedResult fake_quantized_conv2d(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_conv2d_transpose(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_dense(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_batch_matmul(const FakeQuantizedCall& at);
FakeQuantizedResult fake_quantized_bias_add(const FakeQuantizedCall& at);

// Operators that move or choose elements: the type stays, or its axis moves along.
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
