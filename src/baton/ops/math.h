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

/// c0 + c1 x + c2 x^2 + ...
inline Halide::Expr polynomial(const Halide::Expr& x, std::initializer_list<float> coefficients) {
  Halide::Expr sum;
  for (const float* c = coefficients.end(); c-- != coefficients.begin();)
    sum = sum.defined() ? sum * x + *c : Halide::Expr(*c);
  return sum;
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

/// e to the power x, denormal results included; relative error below 4e-7.
inline Halide::Expr vector_exp(const Halide::Expr& value) {
  if (value.type() != Halide::Float(32)) return exp(value);
  // Two powers of two, since that of the largest results is no float, and that of denormal ones neither. At
  // the lower bound both are 0: a product that underflows takes hundreds of cycles on some processors, and
  // masks of attention are sums with -1e9. -176.05968 is -254 ln 2.
  constexpr int kBias = 2 * 127;
  // Beyond the largest finite result infinity is selected, and not what the product overflows to: a sum that
  // takes the result could become one rounding with the product, and exp(x) - x of infinity -infinity.
  return with_value("exp_given", value, [](const Halide::Expr& given) {
    const Halide::Expr bounded = ieee_maximum(Halide::Expr(-176.05968f), given);
    const Halide::Expr finite = with_value("exp_x", bounded, [](const Halide::Expr& x) {
      return with_exp_parts(x, kBias, [](const Halide::Expr& biased, const Halide::Expr& r) {
        return with_value("exp_half", biased >> 1, [&](const Halide::Expr& half) {
          return short_exp(r, 1, 1) * power_of_two(half) * power_of_two(biased - half);
        });
      });
    });
    return select(given > 88.7228317f, Halide::Expr(INFINITY), finite);
  });
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
inline Halide::Expr vector_power(const Halide::Expr& x, double exponent) {
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

}  // namespace baton
