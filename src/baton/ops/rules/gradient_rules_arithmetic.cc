// Gradients of arithmetic and of choices between values.
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/rules/gradient_rules.h"

namespace baton {

using namespace gradients;

GradientRule add_gradient() {
  return {[](const Call& call, const Expr& g) {
    return Adjoints{collapse(g, call->args()[0]), collapse(g, call->args()[1])};
  }};
}

GradientRule subtract_gradient() {
  return {[](const Call& call, const Expr& g) {
    return Adjoints{collapse(g, call->args()[0]), collapse(neg(g), call->args()[1])};
  }};
}

GradientRule multiply_gradient() {
  return {[](const Call& call, const Expr& g) {
    const Expr &a = call->args()[0], &b = call->args()[1];
    return Adjoints{collapse(mul(g, b), a), collapse(mul(g, a), b)};
  }};
}

// d(a / b) = da / b - (a / b) * db / b
GradientRule divide_gradient() {
  return {[](const Call& call, const Expr& g) {
    const Expr &a = call->args()[0], &b = call->args()[1];
    return Adjoints{collapse(div(g, b), a), collapse(neg(div(mul(g, Expr(call)), b)), b)};
  }};
}

GradientRule negative_gradient() {
  return unary([](const Expr&, const Expr&, const Expr& g) { return neg(g); });
}

GradientRule abs_gradient() {
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr zero = zeros_like(x), one = ones_like(x);
    return op("where", {op("less", {x, zero}), mul(neg(one), g), mul(one, g)});
  });
}

GradientRule clip_gradient() {
  return {[](const Call& call, const Expr& g) {
    const Expr& x = call->args()[0];
    const auto bound = [&](const char* name) {
      return op("broadcast_to_like", {scalar_like(float_attr(*call, name), x), x});
    };
    const Expr low = bound("a_min"), high = bound("a_max");
    const Expr zero = zeros_like(x), one = ones_like(x);
    return Adjoints{
        op("where", {op("less", {x, low}), zero, op("where", {op("less", {high, x}), zero, mul(one, g)})})};
  }};
}

GradientRule where_gradient() {
  return {[](const Call& call, const Expr& g) {
    const Expr &condition = call->args()[0], &x = call->args()[1], &y = call->args()[2];
    const Expr zero = zeros_like(g);
    return Adjoints{zeros_like(condition), collapse(op("where", {condition, g, zero}), x),
                    collapse(op("where", {condition, zero, g}), y)};
  }};
}

GradientRule copy_gradient() {
  return unary([](const Expr&, const Expr&, const Expr& g) { return g; });
}

GradientRule no_gradient() {
  return {[](const Call& call, const Expr&) {
    Adjoints zeros;
    for (const Expr& arg : call->args()) zeros.push_back(zeros_like(arg));
    return zeros;
  }};
}

}  // namespace baton
