// Elementwise operators of one input.
#include "baton/ir/build.h"
#include "baton/ir/rules/algebra.h"
#include "baton/ir/rules/cost.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ops/integer_math.h"
#include "baton/ops/math.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/shared/elementwise.h"

namespace baton {

namespace {

// d/dx log_b(x) = 1 / (log(b) * x)
GradientRule log_to_base(double base) {
  using namespace gradients;
  return unary([base](const Expr& x, const Expr&, const Expr& g) {
    const Expr one = ones_like(x);
    return div(mul(g, one), mul(op("log", {scalar_like(base, x)}), x));
  });
}

GradientRule exp_gradient() {
  using namespace gradients;
  return unary([](const Expr& x, const Expr&, const Expr& g) { return mul(g, op("exp", {x})); });
}

GradientRule log_gradient() {
  using namespace gradients;
  return unary([](const Expr& x, const Expr&, const Expr& g) { return div(mul(g, ones_like(x)), x); });
}

GradientRule log2_gradient() {
  using namespace gradients;
  return log_to_base(2);
}

GradientRule log10_gradient() {
  using namespace gradients;
  return log_to_base(10);
}

GradientRule sqrt_gradient() {
  using namespace gradients;
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr half = scalar_like(0.5, x);
    return mul(mul(g, half), op("power", {x, neg(half)}));
  });
}

GradientRule sigmoid_gradient() {
  using namespace gradients;
  return unary(
      [](const Expr&, const Expr& y, const Expr& g) { return mul(mul(g, y), sub(ones_like(y), y)); });
}

GradientRule tanh_gradient() {
  using namespace gradients;
  return unary(
      [](const Expr&, const Expr& y, const Expr& g) { return mul(g, sub(ones_like(y), mul(y, y))); });
}

GradientRule erf_gradient() {
  using namespace gradients;
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const double two_over_root_pi = 1.1283791670955126;
    return mul(mul(g, scalar_like(two_over_root_pi, x)), op("exp", {mul(neg(x), x)}));
  });
}

GradientRule sin_gradient() {
  using namespace gradients;
  return unary([](const Expr& x, const Expr&, const Expr& g) { return mul(g, op("cos", {x})); });
}

GradientRule cos_gradient() {
  using namespace gradients;
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    return mul(g, mul(neg(ones_like(x)), op("sin", {x})));
  });
}

GradientRule tan_gradient() {
  using namespace gradients;
  return unary(
      [](const Expr& x, const Expr&, const Expr& g) { return div(g, mul(op("cos", {x}), op("cos", {x}))); });
}

// d/dx asin(x) = 1 / sqrt(1 - x * x)
GradientRule asin_gradient() {
  using namespace gradients;
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr one = ones_like(x);
    return div(mul(g, one), op("sqrt", {sub(one, mul(x, x))}));
  });
}

GradientRule acos_gradient() {
  using namespace gradients;
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr one = ones_like(x);
    return mul(g, div(neg(one), op("sqrt", {sub(one, mul(x, x))})));
  });
}

GradientRule atan_gradient() {
  using namespace gradients;
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr one = ones_like(x);
    return div(mul(g, one), add(one, mul(x, x)));
  });
}

GradientRule sinh_gradient() {
  using namespace gradients;
  return unary([](const Expr& x, const Expr&, const Expr& g) { return mul(g, op("cosh", {x})); });
}

GradientRule cosh_gradient() {
  using namespace gradients;
  return unary([](const Expr& x, const Expr&, const Expr& g) { return mul(g, op("sinh", {x})); });
}

GradientRule asinh_gradient() {
  using namespace gradients;
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr one = ones_like(x);
    return div(mul(g, one), op("sqrt", {add(mul(x, x), one)}));
  });
}

GradientRule acosh_gradient() {
  using namespace gradients;
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr one = ones_like(x);
    return div(mul(g, one), op("sqrt", {sub(mul(x, x), one)}));
  });
}

GradientRule atanh_gradient() {
  using namespace gradients;
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr one = ones_like(x);
    return div(mul(g, one), sub(one, mul(x, x)));
  });
}

GradientRule negative_gradient() {
  using namespace gradients;
  return unary([](const Expr&, const Expr&, const Expr& g) { return neg(g); });
}

GradientRule abs_gradient() {
  using namespace gradients;
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr zero = zeros_like(x), one = ones_like(x);
    return op("where", {op("less", {x, zero}), mul(neg(one), g), mul(one, g)});
  });
}

Expr zeros_of_type(const CallNode&, const TensorTypeNode& type) {
  return call_op("zeros", {}, {{"shape", type.extents()}, {"dtype", type.dtype()}});
}

Expr ones_of_type(const CallNode&, const TensorTypeNode& type) {
  return call_op("ones", {}, {{"shape", type.extents()}, {"dtype", type.dtype()}});
}

}  // namespace

const OpDef& op_abs() {
  static const OpDef def = unary_op(
      "abs", "The absolute value.",
      [](Halide::Expr x) { return x.type().is_uint() ? x : cast(x.type(), abs(x)); },
      op_rules(abs_gradient(), fake_quantized_function("qnn.abs")));
  return def;
}

const OpDef& op_negative() {
  static const OpDef def = unary_op(
      "negative", "-x.",
      [](Halide::Expr x) {
        if (x.type().is_bool()) return x;
        return x.type().is_float() ? negated(x) : wrapping_negative(x);
      },
      op_rules(negative_gradient()));
  return def;
}

const OpDef& op_sign() {
  static const OpDef def = unary_op("sign", "-1, 0 or 1; nan for nan.", [](Halide::Expr x) {
    const Halide::Expr zero = cast(x.type(), 0), one = cast(x.type(), 1);
    if (x.type().is_uint()) return select(x > zero, one, zero);
    return select(x > zero, one, select(x < zero, -one, x.type().is_float() ? x : zero));
  });
  return def;
}

const OpDef& op_copy() {
  static const OpDef def = unary_op(
      "copy", "A copy.", [](Halide::Expr x) { return x; },
      op_rules(copy_gradient(), MixedPrecision::kFollow));
  return def;
}

const OpDef& op_bitwise_not() {
  static const OpDef def = unary_op("bitwise_not", "All bits turned over.", [](Halide::Expr x) { return ~x; },
                                    {}, {"(2, 3)i8", "(5)i32"});
  return def;
}

const OpDef& op_zeros_like() {
  static const OpDef def = unary_op(
      "zeros_like", "Zeros in the shape of the data.", [](Halide::Expr x) { return cast(x.type(), 0); },
      op_rules(no_gradient(), FilledWith{0}, LikeRule{0, zeros_of_type}));
  return def;
}

const OpDef& op_ones_like() {
  static const OpDef def = unary_op(
      "ones_like", "Ones in the shape of the data.", [](Halide::Expr x) { return cast(x.type(), 1); },
      op_rules(no_gradient(), FilledWith{1}, LikeRule{0, ones_of_type}));
  return def;
}

const OpDef& op_ceil() {
  static const OpDef def = real_op("ceil", "Rounded up.", [](Halide::Expr x) { return ceil(x); });
  return def;
}

const OpDef& op_floor() {
  static const OpDef def = real_op("floor", "Rounded down.", [](Halide::Expr x) { return floor(x); });
  return def;
}

const OpDef& op_round() {
  static const OpDef def = real_op(
      "round", "Rounded to the nearest whole number, halves away from zero.",
      [](Halide::Expr x) { return round_away(x); }, op_rules(NumberConversion{}));
  return def;
}

const OpDef& op_trunc() {
  static const OpDef def = real_op("trunc", "Rounded toward zero.", [](Halide::Expr x) { return trunc(x); });
  return def;
}

const OpDef& op_exp() {
  static const OpDef def = real_op(
      "exp", "e to the power x.", [](Halide::Expr x) { return vector_exp(x); },
      op_rules(exp_gradient(), MixedPrecision::kNever, fake_quantized_function("qnn.exp"),
               FastForm{"fast_exp"}, Transcendental{}));
  return def;
}

const OpDef& op_log() {
  static const OpDef def = real_op(
      "log", "The natural logarithm.", [](Halide::Expr x) { return vector_log(x); },
      op_rules(log_gradient(), fake_quantized_function("qnn.log"), Transcendental{}));
  return def;
}

const OpDef& op_log2() {
  static const OpDef def = real_op(
      "log2", "The logarithm to base 2.", [](Halide::Expr x) { return vector_log2(x); },
      op_rules(log2_gradient(), Transcendental{}));
  return def;
}

const OpDef& op_log10() {
  static const OpDef def = real_op(
      "log10", "The logarithm to base 10.", [](Halide::Expr x) { return vector_log10(x); },
      op_rules(log10_gradient(), Transcendental{}));
  return def;
}

const OpDef& op_sqrt() {
  static const OpDef def = real_op(
      "sqrt", "The square root.", [](Halide::Expr x) { return sqrt(x); },
      op_rules(sqrt_gradient(), MixedPrecision::kFollow, fake_quantized_function("qnn.sqrt"),
               Transcendental{}));
  return def;
}

const OpDef& op_rsqrt() {
  static const OpDef def = real_op(
      "rsqrt", "1 / sqrt(x).", [](Halide::Expr x) { return cast(x.type(), 1) / sqrt(x); },
      op_rules(fake_quantized_function("qnn.rsqrt"), Transcendental{}));
  return def;
}

const OpDef& op_tanh() {
  static const OpDef def = real_op(
      "tanh", "The hyperbolic tangent.", [](Halide::Expr x) { return vector_tanh(x); },
      op_rules(tanh_gradient(), MixedPrecision::kFollow, fake_quantized_function("qnn.tanh"),
               FastForm{"fast_tanh"}, Transcendental{}));
  return def;
}

const OpDef& op_sigmoid() {
  static const OpDef def = real_op(
      "sigmoid", "1 / (1 + exp(-x)).", [](Halide::Expr x) { return vector_sigmoid(x); },
      op_rules(sigmoid_gradient(), MixedPrecision::kFollow, fake_quantized_function("qnn.sigmoid"),
               Transcendental{}));
  return def;
}

const OpDef& op_erf() {
  static const OpDef def = real_op(
      "erf", "The error function.", [](Halide::Expr x) { return vector_erf(x); },
      op_rules(erf_gradient(), MixedPrecision::kNever, fake_quantized_function("qnn.erf"),
               FastForm{"fast_erf"}, Transcendental{}));
  return def;
}

const OpDef& op_sin() {
  static const OpDef def = real_op(
      "sin", "The sine.", [](Halide::Expr x) { return vector_sin(x); },
      op_rules(sin_gradient(), Transcendental{}));
  return def;
}

const OpDef& op_cos() {
  static const OpDef def = real_op(
      "cos", "The cosine.", [](Halide::Expr x) { return vector_cos(x); },
      op_rules(cos_gradient(), Transcendental{}));
  return def;
}

const OpDef& op_tan() {
  static const OpDef def = real_op(
      "tan", "The tangent.", [](Halide::Expr x) { return vector_tan(x); },
      op_rules(tan_gradient(), Transcendental{}));
  return def;
}

const OpDef& op_asin() {
  static const OpDef def = real_op(
      "asin", "The arc sine.", [](Halide::Expr x) { return vector_asin(x); },
      op_rules(asin_gradient(), Transcendental{}));
  return def;
}

const OpDef& op_acos() {
  static const OpDef def = real_op(
      "acos", "The arc cosine.", [](Halide::Expr x) { return vector_acos(x); },
      op_rules(acos_gradient(), Transcendental{}));
  return def;
}

const OpDef& op_atan() {
  static const OpDef def = real_op(
      "atan", "The arc tangent.", [](Halide::Expr x) { return vector_atan(x); },
      op_rules(atan_gradient(), Transcendental{}));
  return def;
}

const OpDef& op_sinh() {
  static const OpDef def = real_op(
      "sinh", "The hyperbolic sine.", [](Halide::Expr x) { return vector_sinh(x); },
      op_rules(sinh_gradient(), Transcendental{}));
  return def;
}

const OpDef& op_cosh() {
  static const OpDef def = real_op(
      "cosh", "The hyperbolic cosine.", [](Halide::Expr x) { return vector_cosh(x); },
      op_rules(cosh_gradient(), Transcendental{}));
  return def;
}

const OpDef& op_asinh() {
  static const OpDef def = real_op(
      "asinh", "The inverse hyperbolic sine.", [](Halide::Expr x) { return vector_asinh(x); },
      op_rules(asinh_gradient(), Transcendental{}));
  return def;
}

const OpDef& op_acosh() {
  static const OpDef def = real_op(
      "acosh", "The inverse hyperbolic cosine.", [](Halide::Expr x) { return vector_acosh(x); },
      op_rules(acosh_gradient(), Transcendental{}));
  return def;
}

const OpDef& op_atanh() {
  static const OpDef def = real_op(
      "atanh", "The inverse hyperbolic tangent.", [](Halide::Expr x) { return vector_atanh(x); },
      op_rules(atanh_gradient(), Transcendental{}));
  return def;
}

const OpDef& op_fast_exp() {
  static const OpDef def = real_op(
      "fast_exp", "exp, may be off by a few units in the last place.",
      [](Halide::Expr x) { return vector_exp(x); }, op_rules(MixedPrecision::kFollow, Transcendental{}));
  return def;
}

const OpDef& op_fast_tanh() {
  static const OpDef def = real_op(
      "fast_tanh", "tanh, may be off by a few units in the last place.",
      [](Halide::Expr x) { return vector_tanh(x); }, op_rules(MixedPrecision::kFollow, Transcendental{}));
  return def;
}

const OpDef& op_fast_erf() {
  static const OpDef def = real_op(
      "fast_erf", "erf, may be off by a few units in the last place.",
      [](Halide::Expr x) { return vector_erf(x); }, op_rules(MixedPrecision::kFollow, Transcendental{}));
  return def;
}

const OpDef& op_isnan() {
  static const OpDef def = predicate_op(
      "isnan", "Whether the element is not a number.",
      [](Halide::Expr x) { return x.type().is_float() ? is_nan(x) : Halide::Internal::const_false(); },
      {"(4)f32{1, nan, inf, -inf}"});
  return def;
}

const OpDef& op_isinf() {
  static const OpDef def = predicate_op(
      "isinf", "Whether the element is infinite.",
      [](Halide::Expr x) { return x.type().is_float() ? is_inf(x) : Halide::Internal::const_false(); },
      {"(4)f32{1, nan, inf, -inf}"});
  return def;
}

const OpDef& op_isfinite() {
  static const OpDef def = predicate_op(
      "isfinite", "Whether the element is neither infinite nor nan.",
      [](Halide::Expr x) { return x.type().is_float() ? is_finite(x) : Halide::Internal::const_true(); },
      {"(4)f32{1, nan, inf, -inf}", "(5, 3)f64"});
  return def;
}

const OpDef& op_logical_not() {
  static const OpDef def = predicate_op(
      "logical_not", "not x.", [](Halide::Expr x) { return x == cast(x.type(), 0); }, {"(3, 5)bool"});
  return def;
}

}  // namespace baton
