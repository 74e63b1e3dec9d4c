#include "baton/ops/qnn/requantize.h"

#include <algorithm>
#include <cmath>

#include "baton/ir/origin_scope.h"
#include "baton/ir/visit.h"

namespace baton::qnn {

namespace {

constexpr int kMultiplierBits = 31;

/// What halves become: the larger number, that further from zero, or the even one.
enum class Rounding : uint8_t { kUpward, kNearest, kEven };

// x * 2^left * multiplier, then a right shift that rounds; all in 64 bits. The numbers are scalars or vectors
// that broadcast with x.
struct Shifts {
  Expr left;  // 2^left, null where no channel needs it
  Expr multiplier;
  Expr half, less;  // what is added before shifting: 2^(right - 1), and one less
  Expr right;
};

Expr scaled_in_64_bits(const Expr& x, const Shifts& by, Rounding rounding) {
  Expr y = cast_to(x, kInt64);
  if (by.left) y = multiply(y, by.left);
  y = multiply(y, by.multiplier);
  // Upward: halves go up. To nearest: halves go away from zero, so one less is added for negative values. To
  // even: one less is added unless the quotient is odd.
  Expr rounder = by.half;
  if (rounding == Rounding::kNearest) {
    const Expr positive = apply("greater_equal", {y, scalar(0, kInt64)});
    rounder = apply("where", {positive, by.half, by.less});
  } else if (rounding == Rounding::kEven) {
    const Expr odd = apply("bitwise_and", {apply("right_shift", {y, by.right}), scalar(1, kInt64)});
    rounder = add(by.less, odd);
  }
  return cast_to(apply("right_shift", {add(y, rounder), by.right}), kInt32);
}

Expr int64_scalar(int64_t value) {
  return constant(NDArray::of<int64_t>({}, std::vector<int64_t>{value}, kInt64));
}

Expr scale_by(const Expr& x, double factor, Rounding rounding, bool wide) {
  const FixedPoint fixed = fixed_point(factor);
  if (rounding == Rounding::kUpward && !wide)
    return apply("fixed_point_multiply", {x}, {{"multiplier", fixed.multiplier}, {"shift", fixed.shift}});
  const int right = kMultiplierBits + std::max(-fixed.shift, 0);
  const int64_t half = int64_t{1} << (right - 1);
  Shifts by;
  if (fixed.shift > 0) by.left = int64_scalar(int64_t{1} << fixed.shift);
  by.multiplier = int64_scalar(fixed.multiplier);
  by.half = int64_scalar(half);
  by.less = int64_scalar(half - 1);
  by.right = int64_scalar(right);
  return scaled_in_64_bits(x, by, rounding);
}

Expr scale_by_channel(const Expr& x, const std::vector<double>& factors, int rank, int axis,
                      Rounding rounding, bool wide) {
  std::vector<int64_t> multiplier, left, right;
  for (const double factor : factors) {
    const FixedPoint fixed = fixed_point(factor);
    multiplier.push_back(fixed.multiplier);
    left.push_back(std::max(fixed.shift, 0));
    right.push_back(std::max(-fixed.shift, 0));
  }
  const auto some = [](const std::vector<int64_t>& shifts) {
    return std::any_of(shifts.begin(), shifts.end(), [](int64_t shift) { return shift != 0; });
  };
  if (rounding == Rounding::kUpward && !wide)
    return apply(
        "fixed_point_multiply_per_axis",
        {x, integer_vector(multiplier, kInt32), integer_vector(left, kInt32), integer_vector(right, kInt32)},
        {{"is_lshift_required", some(left)},
         {"is_rshift_required", some(right)},
         {"axes", std::vector<int64_t>{axis}}});
  const auto spread_out = [&](const std::vector<int64_t>& values) {
    return along_axis(integer_vector(values, kInt64), rank, axis);
  };
  std::vector<int64_t> power, half, less;
  for (size_t i = 0; i < factors.size(); ++i) {
    power.push_back(int64_t{1} << left[i]);
    right[i] += kMultiplierBits;
    half.push_back(int64_t{1} << (right[i] - 1));
    less.push_back(half.back() - 1);
  }
  Shifts by;
  if (some(left)) by.left = spread_out(power);
  by.multiplier = spread_out(multiplier);
  by.half = spread_out(half);
  by.less = spread_out(less);
  by.right = spread_out(right);
  return scaled_in_64_bits(x, by, rounding);
}

// The factor between the scales: numbers where both are constants, else an expression.
struct Factor {
  bool one = false;
  std::vector<double> values;  // one, or one per channel
  bool per_channel = false;
  Expr computed;
};

Factor factor_of(const Requantize& how) {
  Factor factor;
  const auto from = constant_values(how.from.scale), to = constant_values(how.to.scale);
  if (!from || !to) {
    factor.one = how.from.scale == how.to.scale;
    if (!factor.one) factor.computed = divide(how.from.scale, how.to.scale);
    return factor;
  }
  factor.per_channel = !as<ConstantNode>(how.from.scale)->is_scalar();
  factor.one = !factor.per_channel && from->at(0) == to->at(0);
  for (const double scale : *from) factor.values.push_back(scale / to->at(0));
  return factor;
}

OriginSet origins_of_calls(const Expr& expr) {
  std::vector<OriginSet> sets;
  post_order(expr, [&](const Expr& node) {
    if (node->kind() == ExprKind::kCall) sets.push_back(node->origins());
  });
  return OriginSet::merge_all(sets);
}

bool fits(double factor) {
  return std::isfinite(factor) && factor >= 0 && std::abs(fixed_point(factor).shift) < kMultiplierBits;
}

// A scale or zero point, of either form, shaped to broadcast with the data.
Expr spread_any(const Expr& member, int rank, int axis) {
  if (rank == 0) return member;
  return along_axis(apply("reshape", {member}, {{"newshape", std::vector<int64_t>{-1}}}), rank, axis);
}

Expr in_fixed_point(const Expr& data, const TensorTypeNode& type, const Requantize& how, const Factor& factor,
                    Rounding rounding) {
  const int rank = type.rank(), axis = channel_axis(how.axis, rank);
  const bool wide = type.dtype() == kInt64;
  Expr x = cast_to(data, wide ? kInt64 : kInt32);
  if (!is_scalar(how.from.zero_point, 0))
    x = subtract(x, cast_to(spread_any(how.from.zero_point, rank, axis), wide ? kInt64 : kInt32));
  if (!factor.one)
    x = factor.per_channel ? scale_by_channel(x, factor.values, rank, axis, rounding, wide)
                           : scale_by(x, factor.values[0], rounding, wide);
  else if (wide)
    x = cast_to(x, kInt32);
  return is_scalar(how.to.zero_point, 0) ? x : add(cast_to(how.to.zero_point, kInt32), x);
}

// Relay's round takes halves away from zero; half of the number tells which one is even.
Expr round_even(const Expr& x, DType dtype) {
  const Expr half = scalar(0.5, dtype);
  const Expr is_half = apply("equal", {apply("abs", {subtract(x, apply("trunc", {x}))}), half});
  const Expr even = multiply(apply("round", {multiply(x, half)}), scalar(2, dtype));
  return apply("where", {is_half, even, apply("round", {x})});
}

Expr in_floating_point(const Expr& data, const TensorTypeNode& type, const Requantize& how,
                       const Factor& factor, Rounding rounding, DType dtype) {
  const int rank = type.rank(), axis = channel_axis(how.axis, rank);
  Expr x = cast_to(data, dtype);
  if (!is_scalar(how.from.zero_point, 0))
    x = subtract(x, cast_to(spread_any(how.from.zero_point, rank, axis), dtype));
  if (factor.computed) {
    const Expr by = spread_any(factor.computed, rank, axis);
    x = multiply(x, dtype == kFloat32 ? by : cast_to(by, dtype));
  } else if (factor.per_channel) {
    x = multiply(x, along_axis(constant_vector(factor.values, dtype), rank, axis));
  } else if (!factor.one) {
    x = multiply(scalar(factor.values[0], dtype), x);
  }
  const bool moved = !is_scalar(how.to.zero_point, 0);
  // Whether a number is even is asked before the zero point moves it.
  if (moved && rounding != Rounding::kEven) x = add(x, cast_to(how.to.zero_point, dtype));
  x = rounding == Rounding::kUpward ? apply("floor", {add(x, scalar(0.5, dtype))})
      : rounding == Rounding::kEven ? round_even(x, dtype)
                                    : apply("round", {x});
  if (moved && rounding == Rounding::kEven) x = add(x, cast_to(how.to.zero_point, dtype));
  return cast_to(x, kInt32);
}

}  // namespace

namespace {

void check_rounding(const std::string& rounding) {
  if (rounding != "UPWARD" && rounding != "TONEAREST" && rounding != "TONEVEN")
    throw UsageError("qnn.requantize: rounding is \"" + rounding +
                     "\"; there are UPWARD, TONEAREST and TONEVEN");
}

void check_compute_dtype(const std::string& compute) {
  if (compute != "int64" && compute != "float32" && compute != "float64")
    throw UsageError("qnn.requantize: compute_dtype is \"" + compute +
                     "\"; there are int64, float32 and float64");
}

const std::string& usual_compute_dtype(const LegalizeTarget& target) {
  static const std::string fixed = "int64", floating = "float32";
  return target.fast_int8 ? floating : fixed;  // the fast processors for both are the same
}

}  // namespace

void check_requantize_config(const RequantizeConfig& config) {
  check_rounding(config.rounding);
  check_compute_dtype(config.compute_dtype == "None" ? "int64" : config.compute_dtype);
}

FixedPoint fixed_point(double factor) {
  if (factor == 0) return {};
  FixedPoint fixed;
  const double significand = std::frexp(factor, &fixed.shift);
  fixed.multiplier = std::llround(std::ldexp(significand, kMultiplierBits));
  if (fixed.multiplier == int64_t{1} << kMultiplierBits) {  // 0.99999... was rounded up to 1
    fixed.multiplier /= 2;
    ++fixed.shift;
  }
  return fixed;
}

Expr multiply_to_nearest(const Expr& x, double factor) {
  return scale_by(x, factor, Rounding::kNearest, true);
}

Expr lower_requantize(const Expr& data, const TensorTypeNode& type, const Requantize& how,
                      const LegalizeTarget& target) {
  const RequantizeConfig& config = target.requantize;
  const std::string& rounding = how.rounding == "None" ? config.rounding : how.rounding;
  const std::string& compute = how.compute_dtype != "None"      ? how.compute_dtype
                               : config.compute_dtype != "None" ? config.compute_dtype
                                                                : usual_compute_dtype(target);
  check_rounding(rounding);
  check_compute_dtype(compute);
  const Factor factor = factor_of(how);
  // A scale that is the same on both sides is not computed; what it was computed by stays with the result.
  const OriginScope scope(OriginScope::current_or_none().merge(factor.one ? origins_of_calls(how.from.scale)
                                                                          : OriginSet::none()));
  const Rounding halves = rounding == "UPWARD"    ? Rounding::kUpward
                          : rounding == "TONEVEN" ? Rounding::kEven
                                                  : Rounding::kNearest;
  const bool fixed =
      compute == "int64" && !factor.computed && std::all_of(factor.values.begin(), factor.values.end(), fits);
  const Expr x = fixed ? in_fixed_point(data, type, how, factor, halves)
                       : in_floating_point(data, type, how, factor, halves,
                                           compute == "float64" ? DType::float_(64) : kFloat32);
  return how.out_dtype == kInt32 ? x : cast_to(clip_to(x, how.out_dtype), how.out_dtype);
}

Expr lower_dequantize(const Expr& data, const TensorTypeNode& type, const Pair& from,
                      const std::vector<Type>& pair_types, int64_t axis) {
  const int rank = type.rank();
  const Expr shifted = subtract(cast_to(data, kInt32), spread(from.zero_point, pair_types[1], rank, axis));
  return multiply(cast_to(shifted, kFloat32), spread(from.scale, pair_types[0], rank, axis));
}

Expr lower_quantize(const Expr& data, const TensorTypeNode& type, const Pair& to,
                    const std::vector<Type>& pair_types, int64_t axis, DType out_dtype, bool to_even) {
  const int rank = type.rank();
  const Expr scaled = divide(data, spread(to.scale, pair_types[0], rank, axis));
  const Expr rounded = to_even ? round_even(scaled, kFloat32) : apply("round", {scaled});
  const Expr moved = add(rounded, cast_to(spread(to.zero_point, pair_types[1], rank, axis), kFloat32));
  return cast_to(clip_to(moved, out_dtype), out_dtype);
}

}  // namespace baton::qnn
