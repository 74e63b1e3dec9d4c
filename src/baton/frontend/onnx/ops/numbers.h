#pragma once
// Real numbers that importing computes with, and constants of them.
#include <vector>

#include "baton/frontend/onnx/conversion.h"

namespace baton::onnx {

/// The elements of a constant input: of floats of 16 bits and more, or integers. Throws NotSupported where
/// it is computed at run time.
std::vector<double> reals_of(const Conversion& c, size_t input);

/// A tensor of `type`: float16, bfloat16, float32 or float64.
NDArray reals_array(const Shape& shape, const std::vector<double>& values, DType type);

/// `value`, of reals, as integers: rounded to the nearest, halves to even numbers, and bounded.
Expr saturated(const Conversion& c, const Expr& value, DType type);

}  // namespace baton::onnx
