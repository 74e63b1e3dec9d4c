#pragma once
// Builders for gradient rules in operator blocks (see ir/rules/gradient_rule.h; g is the adjoint of the
// result, y the result), and rules shared by several operators. Short forms: g * cos(x) reads as `mul(g,
// op("cos", {x}))`. Calls get the origins of the operator being differentiated (the open OriginScope).
#include <string_view>
#include <utility>
#include <vector>

#include "baton/ir/inspect.h"
#include "baton/ir/rules/gradient_rule.h"

namespace baton::gradients {

using Adjoints = std::vector<Expr>;

/// A call of `name` with the given attributes, the others at their defaults.
Expr op(std::string_view name, std::vector<Expr> args,
        const std::vector<std::pair<std::string, AttrValue>>& attrs = {});
inline Expr add(Expr a, Expr b) { return op("add", {std::move(a), std::move(b)}); }
inline Expr sub(Expr a, Expr b) { return op("subtract", {std::move(a), std::move(b)}); }
inline Expr mul(Expr a, Expr b) { return op("multiply", {std::move(a), std::move(b)}); }
inline Expr div(Expr a, Expr b) { return op("divide", {std::move(a), std::move(b)}); }
inline Expr neg(Expr a) { return op("negative", {std::move(a)}); }
inline Expr zeros_like(Expr a) { return op("zeros_like", {std::move(a)}); }
inline Expr ones_like(Expr a) { return op("ones_like", {std::move(a)}); }
/// `a` summed over the axes that were broadcast from the shape of `b`.
inline Expr collapse(Expr a, Expr b) { return op("collapse_sum_like", {std::move(a), std::move(b)}); }
/// `value` with its axes in the order `axes`; reversed when that is empty.
inline Expr transposed(const Expr& value, const std::vector<int64_t>& axes = {}) {
  return axes.empty() ? op("transpose", {value}) : op("transpose", {value}, {{"axes", AttrValue(axes)}});
}
/// A scalar of the element type of `like`.
Expr scalar_like(double value, const Expr& like);

/// The type of argument `index`; throws when it is not a tensor.
const TensorTypeNode& tensor_arg(const CallNode& call, size_t index);
/// The extents of argument `index`; throws, naming `what`, when one of them is unknown.
std::vector<int64_t> static_arg(const CallNode& call, size_t index);
/// Throws NotSupported, prefixed by the operator's name.
[[noreturn]] void refuse(const CallNode& call, const std::string& why);

/// The rule of a unary function: `of(x, y, g)` is the adjoint of x, where y is the result.
GradientRule unary(std::function<Expr(const Expr& x, const Expr& y, const Expr& g)> of);

/// Adjoint `data` for the first argument, zeros for the others.
Adjoints with_zeros(const Call& call, Expr data);

}  // namespace baton::gradients

namespace baton {

// Rules shared by operators of several files.
GradientRule copy_gradient();  ///< g: copy, annotations
/// Zeros for every argument, for piecewise constant results: comparisons, zeros_like, shape_of.
GradientRule no_gradient();
GradientRule reshape_gradient();  ///< g in the shape of the data; zeros for other arguments

}  // namespace baton
