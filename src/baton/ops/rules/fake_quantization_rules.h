#pragma once
// The operators that can compute on quantised numbers; see ir/rules/fake_quantization_rule.h.
#include <string>

#include "baton/ir/op.h"
#include "baton/ir/rules/fake_quantization_rule.h"

namespace baton {

/// The rule of `op`, or null.
const FakeQuantizationRule* fake_quantization_rule_of(const OpDef& op);

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
