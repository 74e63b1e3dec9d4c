#pragma once
// Vectorisable polynomial versions of functions for which Halide would call the scalar C library. float32
// only; other types use the library. The coefficients were fitted for this file (near-minimax, on Chebyshev
// nodes).
#include <cmath>
#include <initializer_list>
#include <limits>

#include <Halide.h>

#include "baton/ops/ieee.h"

namespace baton {

inline constexpr char kRareValues[] = "baton_rare_values";

/// c0 + c1 x + c2 x^2 + ...
inline Halide::Expr polynomial(const Halide::Expr& x, std::initializer_list<float> coefficients) {
  Halide::Expr sum;
  for (const float* c = coefficients.end(); c-- != coefficients.begin();)
    sum = sum.defined() ? sum * x + *c : Halide::Expr(*c);
  return sum;
}

/// `usual`, but `other` where `is_rare`: `other` is only computed for vectors with such an element, so that
/// it may be slow (a call of the C library for each element). RareValuesPass (schedule/lowered/rare_values.h)
/// makes the branch.
inline Halide::Expr unless_rare(const Halide::Expr& is_rare, const Halide::Expr& other,
                                const Halide::Expr& usual) {
  return Halide::Internal::Call::make(usual.type(), kRareValues, {is_rare, other, usual},
                                      Halide::Internal::Call::PureExtern);
}

/// `body(x)` with x computed once. Otherwise each use of x in the body would repeat the fused producers of x.
template <class Body>
Halide::Expr with_value(const char* name, const Halide::Expr& x, Body&& body) {
  return Halide::Internal::Let::make(name, x, body(Halide::Internal::Variable::make(x.type(), name)));
}

/// Rounded to the nearest whole number, halves away from zero; Halide's round() takes them to the even one.
inline Halide::Expr round_away(const Halide::Expr& value) {
  return with_value("round_x", value, [](const Halide::Expr& x) {
    const Halide::Expr whole = trunc(x), one = cast(x.type(), 1);  // x - whole is exact
    return select(abs(x - whole) >= cast(x.type(), 0.5f), whole + select(x < 0, -one, one), whole);
  });
}

/// `x` between `least` and `most`; NaN for NaN, which Halide's clamp does not promise. One instruction per
/// bound.
inline Halide::Expr clamp_or_nan(const Halide::Expr& x, float least, float most) {
  return ieee_minimum(Halide::Expr(most), ieee_maximum(Halide::Expr(least), x));
}

/// `x` as n ln 2 + r with |r| <= ln(2) / 2 and a whole n: `body` makes the result of (n + bias, r), where
/// n + bias is in the lower 22 bits of an integer whose others are 0 but for 0x12D in the upper ones; it must
/// not be negative. Of NaN, r is NaN; where x is infinite or so large that n has more bits, nothing is
/// promised.
template <class Body>
Halide::Expr with_exp_parts(const Halide::Expr& x, int bias, Body&& body) {
  // Adding 1.5 * 2^23 rounds to a whole number, which is then in the low bits, with the bias.
  const float whole = 12582912.0f + static_cast<float>(bias);
  return with_value("exp_t", x * 1.44269504f + whole, [&](const Halide::Expr& t) {
    return with_value("exp_n", t - whole, [&](const Halide::Expr& n) {
      // The nearest float to ln 2 is off by 1.9e-9, at most 2.4e-7 times n, where its product with n is not
      // rounded. Otherwise two parts, of which n times the first one is exact.
      const Halide::Expr r =
          FusedMultiplyAdd::is_used() ? x - n * 0.693147182f : (x - n * 0.693145752f) - n * 1.42860677e-06f;
      return with_value(
          "exp_r", r, [&](const Halide::Expr& rest) { return body(reinterpret(Halide::Int(32), t), rest); });
    });
  });
}

/// `factor`, a power of two, times e to the power `sign` x, for |x| <= ln(2) / 2.
inline Halide::Expr short_exp(const Halide::Expr& x, float factor, float sign) {
  const float odd = factor * sign;
  return polynomial(x, {factor, odd * 0.9999997f, factor * 0.49999145f, odd * 0.16667642f,
                        factor * 0.041898496f, odd * 0.00829021f});
}

/// 2 to the power `biased` - 127: 0 for 0, infinite for 255. Only the lower 9 bits count.
inline Halide::Expr power_of_two(const Halide::Expr& biased) {
  return reinterpret(Halide::Float(32), biased << 23);
}

/// `factor`, a power of two, times e to the power x, denormal results included; relative error below 4e-7.
/// `largest`: the x with the largest finite result.
inline Halide::Expr scaled_exp(const Halide::Expr& value, float factor, float largest) {
  // Two powers of two, since that of the largest results is no float, and that of denormal ones neither. At
  // the lower bound both are 0: a product that underflows takes hundreds of cycles on some processors, and
  // masks of attention are sums with -1e9. -176.05968 is -254 ln 2.
  constexpr int kBias = 2 * 127;
  // Beyond the largest finite result infinity is selected, and not what the product overflows to: a sum that
  // takes the result could become one rounding with the product, and exp(x) - x of infinity -infinity.
  return with_value("exp_given", value, [&](const Halide::Expr& given) {
    const Halide::Expr bounded = ieee_maximum(Halide::Expr(-176.05968f), given);
    const Halide::Expr finite = with_value("exp_x", bounded, [&](const Halide::Expr& x) {
      return with_exp_parts(x, kBias, [&](const Halide::Expr& biased, const Halide::Expr& r) {
        return with_value("exp_half", biased >> 1, [&](const Halide::Expr& half) {
          return short_exp(r, factor, 1) * power_of_two(half) * power_of_two(biased - half);
        });
      });
    });
    return select(given > largest, Halide::Expr(INFINITY), finite);
  });
}

/// e to the power x.
inline Halide::Expr vector_exp(const Halide::Expr& x) {
  return x.type() == Halide::Float(32) ? scaled_exp(x, 1, 88.7228317f) : exp(x);
}

/// `x` > 0 as 2^n (1 + f) with 1 + f between sqrt(1/2) and sqrt(2): `result` makes log(x) to some base of
/// (n, f, log(1 + f) - f). Infinity gives infinity, 0 gives -infinity; what is below, and NaN, gives NaN.
template <class Result>
Halide::Expr with_log_parts(const Halide::Expr& value, Result&& result) {
  constexpr int32_t kRootOfHalf = 0x3f3504f3;  // its bits
  return with_value("log_x", value, [&](const Halide::Expr& x) {
    const Halide::Expr denormal = x < std::numeric_limits<float>::min();
    const Halide::Expr bits = reinterpret(Halide::Int(32), select(denormal, x * 8388608.0f, x));
    const Halide::Expr number = with_value("log_bits", bits, [&](const Halide::Expr& b) {
      return with_value("log_n", (b - kRootOfHalf) >> 23, [&](const Halide::Expr& n) {
        const Halide::Expr mantissa = reinterpret(Halide::Float(32), b - (n << 23));
        return with_value("log_f", mantissa - 1.0f, [&](const Halide::Expr& f) {
          const Halide::Expr square = f * f;
          const Halide::Expr rest = polynomial(f, {0.33333331f, -0.2500082f, 0.2000123f, -0.16623364f,
                                                   0.14201705f, -0.1316005f, 0.12761863f, -0.076351911f}) *
                                        f * square -
                                    square * 0.5f;
          return result(cast<float>(n) - select(denormal, 23.0f, 0.0f), f, rest);
        });
      });
    });
    const auto constant = [](float number) { return Halide::Expr(number); };
    return select(x > 0.0f, select(x == constant(INFINITY), x, number),
                  select(x == 0.0f, constant(-INFINITY), constant(NAN)));
  });
}

/// The natural logarithm; error below one unit in the last place, denormal numbers included.
inline Halide::Expr vector_log(const Halide::Expr& value) {
  if (value.type() != Halide::Float(32)) return log(value);
  return with_log_parts(value, [](const Halide::Expr& n, const Halide::Expr& f, const Halide::Expr& rest) {
    // ln 2 in two parts; n times the first one is exact.
    return n * 0.693359375f + (f + (rest + n * -2.12194440e-4f));
  });
}

/// The logarithm to base 2; of powers of two exact. Error below 2e-7 of the result or of 1e-7.
inline Halide::Expr vector_log2(const Halide::Expr& value) {
  if (value.type() != Halide::Float(32))
    return log(value) * Halide::Internal::make_const(value.type(), 1.4426950408889634);
  return with_log_parts(value, [](const Halide::Expr& n, const Halide::Expr& f, const Halide::Expr& rest) {
    // 1 / ln 2 in two parts.
    return n + ((f + rest) * 0.44269504f + rest + f);
  });
}

/// The logarithm to base 10.
inline Halide::Expr vector_log10(const Halide::Expr& value) {
  if (value.type() != Halide::Float(32))
    return log(value) * Halide::Internal::make_const(value.type(), 0.4342944819032518);
  return with_log_parts(value, [](const Halide::Expr& n, const Halide::Expr& f, const Halide::Expr& rest) {
    // log10(2) in two parts; n times the first one is exact.
    return n * 0.30102539f + ((f + rest) * 0.43429448f + n * 4.6050390e-06f);
  });
}

/// `x`^`exponent` for x >= 0, otherwise NaN; relative error 1e-7 times the logarithm of the result.
inline Halide::Expr positive_power(const Halide::Expr& x, double exponent) {
  const Halide::Expr power = Halide::Internal::make_const(x.type(), exponent);
  if (x.type() != Halide::Float(32)) return pow(x, power);
  return vector_exp(power * vector_log(x));
}

/// 1 / (1 + exp(-x)); relative error below 5e-7. Results below 4e-39 are 0.
inline Halide::Expr vector_sigmoid(const Halide::Expr& value) {
  const Halide::Expr one = cast(value.type(), 1);
  if (value.type() != Halide::Float(32)) return one / (one + exp(-value));
  // As 2^(n+1) / (2^(n+1) + 2 exp(-r)): the sum is no multiplication, of which processors can do the fewest
  // at a time. At the lower bound the power is 0, and so the result. The division is faster than an
  // approximate reciprocal with a Newton step: nothing else uses the divider.
  return with_value("sigmoid_x", clamp_or_nan(value, -88.6f, 87.0f), [](const Halide::Expr& x) {
    return with_exp_parts(x, 128, [](const Halide::Expr& biased, const Halide::Expr& r) {
      const Halide::Expr exp_r = short_exp(r, 2, -1);
      return with_value("sigmoid_power", power_of_two(biased),
                        [&](const Halide::Expr& power) { return power / (power + exp_r); });
    });
  });
}

/// x p(x^2) / q(x^2), between -1 and 1, which it is beyond +-`limit`; NaN for NaN.
inline Halide::Expr odd_ratio(const Halide::Expr& value, float limit, std::initializer_list<float> p,
                              std::initializer_list<float> q) {
  return with_value("ratio_a", clamp_or_nan(value, -limit, limit), [&](const Halide::Expr& a) {
    return with_value("ratio_s", a * a, [&](const Halide::Expr& s) {
      return clamp_or_nan(a * polynomial(s, p) / polynomial(s, q), -1.0f, 1.0f);
    });
  });
}

/// The hyperbolic tangent; relative error below 5e-7.
inline Halide::Expr vector_tanh(const Halide::Expr& x) {
  if (x.type() != Halide::Float(32)) return tanh(x);
  // At the limit the quotient is larger than 1 by more than its rounding errors.
  return odd_ratio(x, 9.8f, {1.0f, 0.13379711f, 0.0034940266f, 2.0583348e-05f, 1.3318878e-08f},
                   {1.0f, 0.46713027f, 0.025871044f, 0.00032830797f, 7.7619416e-07f});
}

/// The error function; relative error below 5e-7.
inline Halide::Expr vector_erf(const Halide::Expr& x) {
  if (x.type() != Halide::Float(32))
    return Halide::Internal::Call::make(x.type(), x.type().bits() == 64 ? "erf" : "erff", {x},
                                        Halide::Internal::Call::PureExtern);
  return odd_ratio(x, 4.2f,
                   {1.1283791f, 0.1915513f, 0.05287556f, 0.0038081985f, 0.00028468762f, 2.0258883e-06f},
                   {1.0f, 0.50309062f, 0.114560015f, 0.015055165f, 0.0011707329f, 3.783159e-05f});
}

/// x + x^3 p(x^2); -0 of -0.
inline Halide::Expr odd_polynomial(const Halide::Expr& x, std::initializer_list<float> p) {
  return with_value("odd_square", x * x,
                    [&](const Halide::Expr& z) { return x * (1.0f + z * polynomial(z, p)); });
}

/// `magnitude`, which is not negative, with the sign of `x`; NaN for NaN.
inline Halide::Expr with_sign_of(const Halide::Expr& x, const Halide::Expr& magnitude) {
  const Halide::Type bits = Halide::UInt(32);
  const Halide::Expr sign = Halide::Internal::make_const(bits, uint64_t{1} << 31);
  return reinterpret(Halide::Float(32), reinterpret(bits, magnitude) | (reinterpret(bits, x) & sign));
}

/// `body(q, r)` with x = q pi / 2 + r, |r| <= pi / 4, and the whole number q in the lower bits of an integer;
/// where |x| is larger than what that is exact for, `library(x)`. NaN gives an r of NaN.
template <class Library, class Body>
Halide::Expr by_quadrant(const Halide::Expr& value, Library&& library, Body&& body) {
  const bool fused = FusedMultiplyAdd::is_used();
  return with_value("quarter_x", value, [&](const Halide::Expr& x) {
    constexpr float kWhole = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
    const Halide::Expr usual = with_value("quarter_t", x * 0.636619772f + kWhole, [&](const Halide::Expr& t) {
      return with_value("quarter_n", t - kWhole, [&](const Halide::Expr& n) {
        // Parts of pi / 2: the products with n are exact, by fused multiply-adds or by parts of 11 bits. All
        // are positive, so that -0 is left of -0.
        const Halide::Expr rest =
            fused
                ? ((x - n * 1.57079625f) - n * 7.54978942e-08f) - n * 5.39030286e-15f
                : (((x - n * 1.5703125f) - n * 4.83751297e-04f) - n * 7.54953362e-08f) - n * 2.56334407e-12f;
        return with_value("quarter_r", rest,
                          [&](const Halide::Expr& r) { return body(reinterpret(Halide::Int(32), t), r); });
      });
    });
    // Infinity and NaN are not below the limit either.
    return unless_rare(!(abs(x) < (fused ? 71476.0f : 8192.0f)), library(x), usual);
  });
}

/// The sine and the cosine of |r| <= pi / 4.
inline Halide::Expr short_sine(const Halide::Expr& r) {
  return odd_polynomial(r, {-0.16666655f, 0.0083321547f, -0.00019514083f});
}
inline Halide::Expr short_cosine(const Halide::Expr& r) {
  return with_value("cosine_z", r * r, [](const Halide::Expr& z) {
    return 1.0f - z * 0.5f + z * z * polynomial(z, {0.041666646f, -0.0013887284f, 2.4429437e-05f});
  });
}

/// sin(x + ahead pi / 2).
inline Halide::Expr shifted_sine(const Halide::Expr& q, const Halide::Expr& r, int ahead) {
  return with_value("quarter_q", q + ahead, [&](const Halide::Expr& quarter) {
    const Halide::Expr of = select((quarter & 1) == 0, short_sine(r), short_cosine(r));
    const Halide::Type bits = Halide::UInt(32);  // C has no shifts into the sign
    return reinterpret(Halide::Float(32), reinterpret(bits, of) ^ ((reinterpret(bits, quarter) & 2) << 30));
  });
}

/// The sine; relative error below 3e-7, but where |x| is large and near a multiple of pi.
inline Halide::Expr vector_sin(const Halide::Expr& x) {
  if (x.type() != Halide::Float(32)) return sin(x);
  return by_quadrant(
      x, [](const Halide::Expr& far) { return sin(far); },
      [](const Halide::Expr& q, const Halide::Expr& r) { return shifted_sine(q, r, 0); });
}

/// The cosine, as exact as the sine.
inline Halide::Expr vector_cos(const Halide::Expr& x) {
  if (x.type() != Halide::Float(32)) return cos(x);
  return by_quadrant(
      x, [](const Halide::Expr& far) { return cos(far); },
      [](const Halide::Expr& q, const Halide::Expr& r) { return shifted_sine(q, r, 1); });
}

/// The tangent; relative error below 5e-7, but where |x| is large and near a multiple of pi / 2.
inline Halide::Expr vector_tan(const Halide::Expr& x) {
  if (x.type() != Halide::Float(32)) return tan(x);
  return by_quadrant(
      x, [](const Halide::Expr& far) { return tan(far); },
      [](const Halide::Expr& q, const Halide::Expr& r) {
        const Halide::Expr near = odd_polynomial(
            r, {0.33333126f, 0.13339572f, 0.053350575f, 0.024637695f, 0.0027987405f, 0.0095698051f});
        return with_value("tangent", near,
                          [&](const Halide::Expr& t) { return select((q & 1) == 0, t, -1.0f / t); });
      });
}

/// The arc tangent; relative error below 3e-7.
inline Halide::Expr vector_atan(const Halide::Expr& value) {
  if (value.type() != Halide::Float(32)) return atan(value);
  return with_value("atan_x", value, [](const Halide::Expr& x) {
    return with_value("atan_a", abs(x), [&](const Halide::Expr& a) {
      // The angle is base + atan(above / below), where the quotient is at most tan(pi / 8).
      const Halide::Expr far = a > 2.41421356f, middle = a > 0.414213562f, one = Halide::Expr(1.0f);
      const Halide::Expr above = select(far, -one, middle, a - one, a),
                         below = select(far, a, middle, a + one, one),
                         base = select(far, 1.57079633f, middle, 0.785398163f, 0.0f);
      return with_value("atan_t", above / below, [&](const Halide::Expr& t) {
        return with_sign_of(x,
                            base + odd_polynomial(t, {-0.33332941f, 0.1997733f, -0.13872847f, 0.080360308f}));
      });
    });
  });
}

/// `body(a, is_large, angle)`: a = |x|, asin(a) is `angle` where a is at most 0.5, else pi / 2 - 2 `angle`.
/// Beyond 1 the angle is NaN.
template <class Body>
Halide::Expr with_half_angle(const Halide::Expr& x, Body&& body) {
  return with_value("arc_a", abs(x), [&](const Halide::Expr& a) {
    const Halide::Expr is_large = a > 0.5f;
    return with_value("arc_z", select(is_large, (1.0f - a) * 0.5f, a * a), [&](const Halide::Expr& z) {
      return with_value("arc_s", select(is_large, sqrt(z), a), [&](const Halide::Expr& s) {
        const Halide::Expr angle =
            s + s * (z * polynomial(z, {0.1666676f, 0.074950099f, 0.04550866f, 0.023980696f, 0.042519525f}));
        return with_value("arc_angle", angle,
                          [&](const Halide::Expr& found) { return body(is_large, found); });
      });
    });
  });
}

/// The arc sine; relative error below 3e-7.
inline Halide::Expr vector_asin(const Halide::Expr& value) {
  if (value.type() != Halide::Float(32)) return asin(value);
  return with_value("asin_x", value, [](const Halide::Expr& x) {
    return with_half_angle(x, [&](const Halide::Expr& is_large, const Halide::Expr& angle) {
      return with_sign_of(x, select(is_large, 1.57079633f - 2.0f * angle, angle));
    });
  });
}

/// The arc cosine; relative error below 3e-7.
inline Halide::Expr vector_acos(const Halide::Expr& value) {
  if (value.type() != Halide::Float(32)) return acos(value);
  return with_value("acos_x", value, [](const Halide::Expr& x) {
    return with_half_angle(x, [&](const Halide::Expr& is_large, const Halide::Expr& angle) {
      const Halide::Expr twice = 2.0f * angle;
      return select(is_large, select(x < 0.0f, 3.14159265f - twice, twice),
                    1.57079633f - with_sign_of(x, angle));
    });
  });
}

/// e^|x| / 2, finite as far as the hyperbolic functions are.
inline Halide::Expr half_exp(const Halide::Expr& a) { return scaled_exp(a, 0.5f, 89.4159851f); }

/// The hyperbolic sine; relative error below 5e-7.
inline Halide::Expr vector_sinh(const Halide::Expr& value) {
  if (value.type() != Halide::Float(32)) return sinh(value);
  return with_value("sinh_x", value, [](const Halide::Expr& x) {
    const Halide::Expr large =
        with_value("sinh_e", half_exp(abs(x)), [](const Halide::Expr& e) { return e - 0.25f / e; });
    return select(abs(x) < 1.0f, odd_polynomial(x, {0.16666718f, 0.008330211f, 0.00020377406f}),
                  with_sign_of(x, large));
  });
}

/// The hyperbolic cosine; relative error below 5e-7.
inline Halide::Expr vector_cosh(const Halide::Expr& x) {
  if (x.type() != Halide::Float(32)) return cosh(x);
  return with_value("cosh_e", half_exp(abs(x)), [](const Halide::Expr& e) { return e + 0.25f / e; });
}

/// log(a + root), for a >= 0.5 of which the root is next to a where its square would overflow.
inline Halide::Expr log_of_sum(const Halide::Expr& a, const Halide::Expr& root) {
  const Halide::Expr is_large = a > 1e9f;
  return vector_log(select(is_large, a, a + root)) + select(is_large, 0.693147181f, 0.0f);
}

/// The inverse hyperbolic sine; relative error below 5e-7.
inline Halide::Expr vector_asinh(const Halide::Expr& value) {
  if (value.type() != Halide::Float(32)) return asinh(value);
  return with_value("asinh_x", value, [](const Halide::Expr& x) {
    return with_value("asinh_a", abs(x), [&](const Halide::Expr& a) {
      return select(
          a < 0.5f,
          odd_polynomial(x, {-0.16666643f, 0.07498616f, -0.044379357f, 0.028140647f, -0.013184438f}),
          with_sign_of(x, log_of_sum(a, sqrt(a * a + 1.0f))));
    });
  });
}

/// The inverse hyperbolic cosine; relative error below 5e-7.
inline Halide::Expr vector_acosh(const Halide::Expr& value) {
  if (value.type() != Halide::Float(32)) return acosh(value);
  return with_value("acosh_x", value, [](const Halide::Expr& x) {
    const Halide::Expr near = with_value("acosh_t", x - 1.0f, [](const Halide::Expr& t) {
      return sqrt(2.0f * t) *
             polynomial(t, {1.0f, -0.083330616f, 0.018705307f, -0.0053183599f, 0.0012394524f});
    });
    return select(x > 1.5f, log_of_sum(x, sqrt(x * x - 1.0f)), near);
  });
}

/// The inverse hyperbolic tangent; relative error below 5e-7.
inline Halide::Expr vector_atanh(const Halide::Expr& value) {
  if (value.type() != Halide::Float(32)) return atanh(value);
  return with_value("atanh_x", value, [](const Halide::Expr& x) {
    return with_value("atanh_a", abs(x), [&](const Halide::Expr& a) {
      return select(
          a < 0.5f,
          odd_polynomial(x, {0.33333296f, 0.20002748f, 0.14218228f, 0.11862674f, 0.049846932f, 0.17886394f}),
          with_sign_of(x, 0.5f * vector_log((1.0f + a) / (1.0f - a))));
    });
  });
}

/// c0 + c1 x + c2 x^2 + ... in float64, the even and the odd powers side by side.
inline Halide::Expr wide_polynomial(const Halide::Expr& x, std::initializer_list<double> coefficients) {
  return with_value("wide_square", x * x, [&](const Halide::Expr& z) {
    Halide::Expr even, odd;
    for (size_t i = coefficients.size(); i-- > 0;) {
      Halide::Expr& sum = i % 2 == 0 ? even : odd;
      const Halide::Expr c = Halide::Internal::make_const(Halide::Float(64), coefficients.begin()[i]);
      sum = sum.defined() ? sum * z + c : c;
    }
    return even + odd * x;
  });
}

/// `x`^`y` as the C library's, of any numbers: computed in float64, and rounded once; error below one unit in
/// the last place.
inline Halide::Expr vector_pow(const Halide::Expr& base, const Halide::Expr& exponent) {
  using Halide::Expr;
  using Halide::Internal::make_const;
  const Halide::Type wide = Halide::Float(64), word = Halide::Int(64);
  const auto number = [&](double value) { return make_const(wide, value); };
  return with_value("pow_x", base, [&](const Expr& x) {
    return with_value("pow_y", exponent, [&](const Expr& y) {
      const Expr a = abs(x), infinity = Expr(INFINITY);
      // log2(a), where a = 2^n (1 + f) with 1 + f between sqrt(1/2) and sqrt(2).
      const Expr bits = reinterpret(word, cast(wide, a));
      const Expr finite = with_value("pow_bits", bits, [&](const Expr& b) {
        const Expr root = make_const(word, int64_t{0x3fe6a09e667f3bcd});
        return with_value("pow_n", (b - root) >> 52, [&](const Expr& n) {
          const Expr mantissa = reinterpret(wide, b - (n << 52));
          return with_value("pow_f", mantissa - number(1), [&](const Expr& f) {
            const Expr log =
                f * wide_polynomial(
                        f, {1.4426950408696197, -0.7213475208673509, 0.4808983612467335, -0.36067367479587026,
                            0.28853729995314814, -0.24045317420028586, 0.2061752573782483,
                            -0.18030036427414103, 0.15877025201783515, -0.143158408588489,
                            0.14474989436864316, -0.14283650467430145, 0.07736546810782821});
            return cast(wide, cast<int32_t>(n)) + log;
          });
        });
      });
      // Of 0 and infinity a number whose product with any other exponent than 0 is beyond the results.
      const Expr log = select(a == 0.0f, number(-1e60), a == infinity, number(1e60), finite);
      // An infinite exponent as a large one: its product with the logarithm of 1 is 0.
      const Expr by =
          cast(wide, clamp(y, -std::numeric_limits<float>::max(), std::numeric_limits<float>::max()));
      const Expr power = clamp(log * by, number(-160), number(140));
      constexpr double kWhole = 6755399441055744.0;  // 1.5 * 2^52
      const Expr magnitude = with_value("pow_power", power, [&](const Expr& p) {
        return with_value("pow_t", p + number(kWhole), [&](const Expr& t) {
          const Halide::Type bits_of_scale = Halide::UInt(64);
          const Expr scale =
              reinterpret(wide, (reinterpret(bits_of_scale, t) + make_const(bits_of_scale, 1023)) << 52);
          const Expr part = wide_polynomial(
              p - (t - number(kWhole)),
              {0.9999999999616225, 0.6931471807287208, 0.24022651198754233, 0.05550410352815626,
               0.009618027172800263, 0.001333392286895316, 0.00015469317300753144, 1.520189804645774e-05});
          return cast<float>(part * scale);
        });
      });
      const Expr whole = trunc(y) == y, half = y * 0.5f;
      const Expr is_odd = whole && abs(y) < 16777216.0f && trunc(half) != half;
      const Expr is_negative = reinterpret(Halide::Int(32), x) < 0;
      const Expr power_of = select(is_negative && is_odd, negated(magnitude),
                                   is_negative && !whole && a != 0.0f && a != infinity, Expr(NAN), magnitude);
      return select(x == 1.0f || y == 0.0f, Expr(1.0f), x != x || y != y, Expr(NAN), power_of);
    });
  });
}

}  // namespace baton
