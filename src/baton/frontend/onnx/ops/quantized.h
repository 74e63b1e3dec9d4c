#pragma once
// Quantised tensors: what operators of ONNX and of com.microsoft have in common. A number is (element - zero
// point) * scale.
#include "baton/frontend/onnx/conversion.h"

namespace baton::onnx {

/// Scalars, or vectors with one value per channel.
struct Quantization {
  Expr scale;  ///< float32
  Expr zero;   ///< int32
};

/// Inputs `scale` and `zero`, which may be missing.
Quantization quantization_of(const Conversion& c, size_t scale, size_t zero);
/// Input `i` as int32: 0 where it is not given.
Expr zero_point(const Conversion& c, size_t i);
/// What importing knows is a constant; else the cast.
Expr as_int32(const Conversion& c, const Expr& value);

/// `x` (float32) in `dtype`, halves to even; `axis`: that of the channels.
Expr quantized(const Conversion& c, const Expr& x, const Quantization& to, int axis, DType dtype);
/// In float32.
Expr dequantized(const Conversion& c, const Expr& x, const Quantization& from, int axis);
/// `sum` (int32), whose unit is `scale`, as a quantised tensor.
Expr requantized(const Conversion& c, const Expr& sum, const Expr& scale, int axis, const Quantization& to,
                 DType dtype);
/// The product of two scales, a constant if both are.
Expr scale_product(const Conversion& c, const Expr& a, const Expr& b);

struct Quantized {
  Expr data;
  Quantization by;
  Expr zero;  ///< in the data's type
};
/// In uint8, so that the least and the largest element and 0 are represented.
Quantized quantized_by_range(const Conversion& c, const Expr& x);

/// sum (a - zero_a) * (b - zero_b) in int32, as numpy.matmul. Zero points of `a` may be per row, those of `b`
/// per column.
Expr integer_product(Conversion& c, const Expr& a, const Expr& b, const Expr& zero_a, const Expr& zero_b);

}  // namespace baton::onnx
