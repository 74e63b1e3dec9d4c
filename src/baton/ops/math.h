#pragma once
// Vectorisable polynomial versions of functions for which Halide would call the scalar C library. float32
// only; other types use the library. The coefficients were fitted for this file (near-minimax, on Chebyshev
// nodes).
#include <cmath>
#include <initializer_list>

#include <Halide.h>

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
    return whole +
           select(abs(x - whole) >= cast(x.type(), 0.5f), select(x < 0, -one, one), cast(x.type(), 0));
  });
}

/// `x` between `least` and `most`; NaN for NaN, which Halide's clamp does not promise: each comparison fails
/// for NaN and then selects its second operand. One instruction per bound.
inline Halide::Expr clamp_or_nan(const Halide::Expr& x, float least, float most) {
  return strict_float(min(Halide::Expr(most), max(Halide::Expr(least), x)));
}

/// `x` as n ln 2 + r with |r| <= ln(2) / 2 and a whole n: `body` makes the result of (2^(n + scale), exp(r)).
/// The power is 0 where n + scale is -127 and infinite where it is 128, and must not be beyond. x is a number
/// or NaN; of NaN, exp(r) is NaN.
template <class Body>
Halide::Expr with_exp_parts(const Halide::Expr& x, int scale, Body&& body) {
  // Adding 1.5 * 2^23 rounds to a whole number, which is then in the low bits. There the bias of exponents is
  // added too, so that a shift makes the power. The subtraction must not be simplified.
  const float whole = 12582912.0f + static_cast<float>(127 + scale);
  return with_value("exp_t", x * 1.44269504f + whole, [&](const Halide::Expr& t) {
    return with_value("exp_n", Halide::strict_float(t - whole), [&](const Halide::Expr& n) {
      // n times the first part of ln 2 is exact; where multiply-adds are fused, LLVM adds up both parts,
      // which is exact enough.
      return with_value("exp_r", (x - n * 0.693145752f) - n * 1.42860677e-06f, [&](const Halide::Expr& r) {
        const Halide::Expr power = reinterpret(x.type(), reinterpret(Halide::Int(32), t) << 23);
        return body(power,
                    polynomial(r, {1.0f, 0.9999997f, 0.49999145f, 0.16667642f, 0.041898496f, 0.00829021f}));
      });
    });
  });
}

/// e to the power x; relative error below 4e-7 on processors with fused multiply-adds, or where the precision
/// is strict, otherwise 1e-7 |x|. Results below 1.7e-38 are 0.
inline Halide::Expr vector_exp(const Halide::Expr& value) {
  if (value.type() != Halide::Float(32)) return exp(value);
  return with_value("exp_x", clamp_or_nan(value, -87.3f, 89.0f), [](const Halide::Expr& x) {
    // Half of the power of two, since that of the largest results is no float.
    return with_exp_parts(x, -1, [](const Halide::Expr& half_power, const Halide::Expr& exp_r) {
      return exp_r * 2.0f * half_power;
    });
  });
}

/// 1 / (1 + exp(-x)); relative error below 5e-7 on processors with fused multiply-adds, or where the
/// precision is strict, otherwise 1e-7 |x|. Results below 4e-39 are 0.
inline Halide::Expr vector_sigmoid(const Halide::Expr& value) {
  const Halide::Expr one = cast(value.type(), 1);
  if (value.type() != Halide::Float(32)) return one / (one + exp(-value));
  // Where the power is infinite the result is 0. The division is faster than an approximate reciprocal with a
  // Newton step: nothing else uses the divider, and the number of instructions is the limit.
  return with_value("sigmoid_x", clamp_or_nan(value, -88.6f, 87.0f), [&one](const Halide::Expr& x) {
    return with_exp_parts(-x, 0, [&one](const Halide::Expr& power, const Halide::Expr& exp_r) {
      return one / (exp_r * power + one);
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
