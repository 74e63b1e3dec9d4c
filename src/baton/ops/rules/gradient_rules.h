#pragma once
// The gradients of operators; see ir/rules/gradient_rule.h. g is the adjoint of the result, y the result.
#include "baton/ir/rules/gradient_rule.h"

namespace baton {

// ---- Functions of real numbers (gradient_rules_real.cc).
GradientRule exp_gradient();      ///< g * exp(x)
GradientRule log_gradient();      ///< g / x
GradientRule log2_gradient();     ///< g / (log(2) * x)
GradientRule log10_gradient();    ///< g / (log(10) * x)
GradientRule sqrt_gradient();     ///< g * x^-0.5 / 2
GradientRule sigmoid_gradient();  ///< g * y * (1 - y)
GradientRule tanh_gradient();     ///< g * (1 - y * y)
GradientRule erf_gradient();      ///< g * 2 / sqrt(pi) * exp(-x * x)
GradientRule sin_gradient();
GradientRule cos_gradient();
GradientRule tan_gradient();  ///< g / cos(x)^2
GradientRule asin_gradient();
GradientRule acos_gradient();
GradientRule atan_gradient();
GradientRule sinh_gradient();
GradientRule cosh_gradient();
GradientRule asinh_gradient();
GradientRule acosh_gradient();
GradientRule atanh_gradient();

// ---- Arithmetic and choice (gradient_rules_arithmetic.cc). Where two shapes were broadcast, the adjoint is
// summed.
GradientRule add_gradient();
GradientRule subtract_gradient();
GradientRule multiply_gradient();
GradientRule divide_gradient();
GradientRule negative_gradient();
GradientRule abs_gradient();    ///< -g where x < 0, else g
GradientRule clip_gradient();   ///< 0 outside the bounds, else g
GradientRule where_gradient();  ///< g goes to the side that was chosen
GradientRule copy_gradient();   ///< g: copy, annotations
/// Zeros for every argument: comparisons, zeros_like, shape_of. The result does not change with them.
GradientRule no_gradient();

// ---- Shapes and types (gradient_rules_shape.cc).
GradientRule cast_gradient();     ///< g in the element type of the data; for cast_like too
GradientRule reshape_gradient();  ///< g in the shape of the data; what else there is gets zeros
GradientRule expand_dims_gradient();
GradientRule transpose_gradient();
GradientRule collapse_sum_gradient();  ///< g broadcast to the data
GradientRule concatenate_gradient();
GradientRule stack_gradient();
GradientRule strided_slice_gradient();
GradientRule take_gradient();  ///< slices of g are added where they were taken from
GradientRule gather_nd_gradient();
GradientRule one_hot_gradient();
GradientRule arange_gradient();

// ---- Reductions (gradient_rules_reduce.cc).
GradientRule sum_gradient();
GradientRule mean_gradient();
GradientRule variance_gradient();  ///< the mean is an argument of its own
GradientRule max_gradient();       ///< g in equal parts to all that are as large as the maximum

}  // namespace baton
