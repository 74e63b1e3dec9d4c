#pragma once
// Vectorisable polynomial versions of functions for which Halide would call the scalar C library. float32
// only; other types use the library. The coefficients were fitted for this file (near-minimax, on Chebyshev
// nodes).
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

/// The hyperbolic tangent; relative error below 3e-7.
inline Halide::Expr vector_tanh(const Halide::Expr& value) {
  if (value.type() != Halide::Float(32)) return tanh(value);
  return with_value("tanh_x", value, [](const Halide::Expr& x) {
    const Halide::Expr a = abs(x), s = x * x;
    const Halide::Expr small =
        x * polynomial(s, {1.0f, -0.33333262f, 0.1333115f, -0.05372268f, 0.02059568f, -0.0056647754f});
    const Halide::Expr large = 1.0f - 2.0f / (exp(2.0f * min(a, 10.0f)) + 1.0f);
    return select(is_nan(x), x, a >= 0.625f, select(x < 0.0f, -large, large), small);
  });
}

/// The error function; relative error below 5e-7.
inline Halide::Expr vector_erf(const Halide::Expr& value) {
  if (value.type() != Halide::Float(32))
    return Halide::Internal::Call::make(value.type(), value.type().bits() == 64 ? "erf" : "erff", {value},
                                        Halide::Internal::Call::PureExtern);
  return with_value("erf_x", value, [](const Halide::Expr& x) {
    const Halide::Expr s = x * x, a = min(abs(x), 4.0f);
    const Halide::Expr small =
        x * polynomial(s, {1.1283792f, -0.3761264f, 0.11283782f, -0.026865438f, 0.0052210535f,
                           -0.00084843965f, 0.00011268254f, -9.67359e-06f});
    // erfc(x) = exp(-x^2) * erfcx(x), and erfcx is smooth in 1 / (x + 1).
    const Halide::Expr u = 1.0f / (a + 1.0f);
    const Halide::Expr rest =
        exp(-a * a) * polynomial(u, {-0.00040404973f, 0.5733117f, 0.4781029f, 0.71616913f, -1.495600008f,
                                     0.91212971f, -0.17562392f});
    const Halide::Expr large = 1.0f - rest;
    return select(is_nan(x), x, abs(x) >= 1.0f, select(x < 0.0f, -large, large), small);
  });
}

}  // namespace baton
