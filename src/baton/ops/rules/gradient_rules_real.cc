// Gradients of functions of one real number.
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/rules/gradient_rules.h"

namespace baton {

using namespace gradients;

GradientRule exp_gradient() {
  return unary([](const Expr& x, const Expr&, const Expr& g) { return mul(g, op("exp", {x})); });
}

GradientRule log_gradient() {
  return unary([](const Expr& x, const Expr&, const Expr& g) { return div(mul(g, ones_like(x)), x); });
}

namespace {

// d/dx log_b(x) = 1 / (log(b) * x)
GradientRule log_to_base(double base) {
  return unary([base](const Expr& x, const Expr&, const Expr& g) {
    const Expr one = ones_like(x);
    return div(mul(g, one), mul(op("log", {scalar_like(base, x)}), x));
  });
}

}  // namespace

GradientRule log2_gradient() { return log_to_base(2); }
GradientRule log10_gradient() { return log_to_base(10); }

GradientRule sqrt_gradient() {
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr half = scalar_like(0.5, x);
    return mul(mul(g, half), op("power", {x, neg(half)}));
  });
}

GradientRule sigmoid_gradient() {
  return unary(
      [](const Expr&, const Expr& y, const Expr& g) { return mul(mul(g, y), sub(ones_like(y), y)); });
}

GradientRule tanh_gradient() {
  return unary(
      [](const Expr&, const Expr& y, const Expr& g) { return mul(g, sub(ones_like(y), mul(y, y))); });
}

GradientRule erf_gradient() {
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const double two_over_root_pi = 1.1283791670955126;
    return mul(mul(g, scalar_like(two_over_root_pi, x)), op("exp", {mul(neg(x), x)}));
  });
}

GradientRule sin_gradient() {
  return unary([](const Expr& x, const Expr&, const Expr& g) { return mul(g, op("cos", {x})); });
}

GradientRule cos_gradient() {
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    return mul(g, mul(neg(ones_like(x)), op("sin", {x})));
  });
}

GradientRule tan_gradient() {
  return unary(
      [](const Expr& x, const Expr&, const Expr& g) { return div(g, mul(op("cos", {x}), op("cos", {x}))); });
}

GradientRule sinh_gradient() {
  return unary([](const Expr& x, const Expr&, const Expr& g) { return mul(g, op("cosh", {x})); });
}

GradientRule cosh_gradient() {
  return unary([](const Expr& x, const Expr&, const Expr& g) { return mul(g, op("sinh", {x})); });
}

// d/dx asin(x) = 1 / sqrt(1 - x * x)
GradientRule asin_gradient() {
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr one = ones_like(x);
    return div(mul(g, one), op("sqrt", {sub(one, mul(x, x))}));
  });
}

GradientRule acos_gradient() {
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr one = ones_like(x);
    return mul(g, div(neg(one), op("sqrt", {sub(one, mul(x, x))})));
  });
}

GradientRule atan_gradient() {
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr one = ones_like(x);
    return div(mul(g, one), add(one, mul(x, x)));
  });
}

GradientRule asinh_gradient() {
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr one = ones_like(x);
    return div(mul(g, one), op("sqrt", {add(mul(x, x), one)}));
  });
}

GradientRule acosh_gradient() {
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr one = ones_like(x);
    return div(mul(g, one), op("sqrt", {sub(mul(x, x), one)}));
  });
}

GradientRule atanh_gradient() {
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr one = ones_like(x);
    return div(mul(g, one), sub(one, mul(x, x)));
  });
}

}  // namespace baton
