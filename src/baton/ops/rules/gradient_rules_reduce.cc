// Gradients of reductions: the adjoint is brought back to the shape of the data.
#include <algorithm>
#include <numeric>

#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/rules/gradient_rules.h"

namespace baton {

using namespace gradients;

namespace {

// The axes that are reduced, ascending.
std::vector<int64_t> reduced_axes(const CallNode& call) {
  const int rank = tensor_arg(call, 0).rank();
  std::vector<int64_t> named = ints_attr(call, "axis");
  std::vector<int64_t> all(static_cast<size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  if (named.empty()) return all;
  for (int64_t& axis : named) axis = front_axis(axis, rank);
  const bool exclude = bool_attr(call, "exclude");
  std::erase_if(all, [&](int64_t axis) {
    return (std::find(named.begin(), named.end(), axis) != named.end()) == exclude;
  });
  return all;
}

// `value` with the reduced axes, as axes of extent 1.
Expr with_axes(const CallNode& call, Expr value, const std::vector<int64_t>& axes) {
  if (bool_attr(call, "keepdims")) return value;
  for (const int64_t axis : axes) value = op("expand_dims", {value}, {{"axis", axis}});
  return value;
}

// How many elements go into one of the result.
double count(const CallNode& call, const std::vector<int64_t>& axes) {
  double elements = 1;
  for (const int64_t axis : axes) {
    const Dim extent = tensor_arg(call, 0).shape()[static_cast<size_t>(axis)];
    if (extent.is_any())
      refuse(call, "needs to know the extents of the axes it reduces, got " +
                       type_text(call.args()[0]->checked_type()));
    elements *= static_cast<double>(extent.value());
  }
  return elements;
}

}  // namespace

GradientRule sum_gradient() {
  return {[](const Call& call, const Expr& g) {
    return Adjoints{op("broadcast_to_like", {with_axes(*call, g, reduced_axes(*call)), call->args()[0]})};
  }};
}

GradientRule mean_gradient() {
  return {[](const Call& call, const Expr& g) {
    const Expr& x = call->args()[0];
    const std::vector<int64_t> axes = reduced_axes(*call);
    const Expr share = scalar_like(1.0 / count(*call, axes), x);
    return Adjoints{op("broadcast_to_like", {mul(with_axes(*call, g, axes), share), x})};
  }};
}

// sum((x - m)^2) / n: 2 (x - m) / n for x, and the same summed up, negative, for m.
GradientRule variance_gradient() {
  return {[](const Call& call, const Expr& g) {
    const Expr &x = call->args()[0], &mean = call->args()[1];
    const std::vector<int64_t> axes = reduced_axes(*call);
    const double n = count(*call, axes) - (bool_attr(*call, "unbiased") ? 1 : 0);
    const Expr data = mul(mul(with_axes(*call, g, axes), scalar_like(2 / n, x)), sub(x, mean));
    return Adjoints{data, neg(collapse(data, mean))};
  }};
}

GradientRule max_gradient() {
  return {[](const Call& call, const Expr& g) {
    const Expr& x = call->args()[0];
    const std::vector<int64_t> axes = reduced_axes(*call);
    const Expr largest = op("broadcast_to_like", {with_axes(*call, Expr(call), axes), x});
    const Expr chosen = op("cast_like", {op("equal", {largest, x}), g});
    const Expr many = op("sum", {chosen}, {{"axis", AttrValue(axes)}, {"keepdims", true}});
    return Adjoints{div(mul(chosen, with_axes(*call, g, axes)), many)};
  }};
}

}  // namespace baton
