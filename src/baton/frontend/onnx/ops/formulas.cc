#include "baton/frontend/onnx/ops/formulas.h"

#include <utility>

namespace baton::onnx {

Expr Formulas::round_even(const Expr& x) const {
  const Expr half = number(0.5, x), two = number(2, x);
  const Expr is_half = of("equal", of("abs", sub(x, of("trunc", x))), half);
  return where(is_half, mul(of("round", mul(x, half)), two), of("round", x));
}

Expr Formulas::sliced(const Expr& x, int64_t axis, int64_t begin, int64_t end, int64_t step) const {
  return c_.call("strided_slice", {x},
                 {{"begin", std::vector<int64_t>{begin}},
                  {"end", std::vector<int64_t>{end}},
                  {"strides", std::vector<int64_t>{step}},
                  {"slice_mode", "end"},
                  {"axes", std::vector<int64_t>{axis}}});
}

Expr Formulas::taken(const Expr& x, int64_t axis, int64_t index) const {
  const Expr at = c_.scalar(static_cast<double>(index), DType::int_(32));
  return c_.call("take", {x, at}, {{"axis", axis}});
}

Expr Formulas::joined(std::vector<Expr> parts, int64_t axis) const {
  return parts.size() == 1 ? parts.front()
                           : c_.call("concatenate", {tuple(std::move(parts))}, {{"axis", axis}});
}

std::vector<Expr> Formulas::parts(const Expr& x, int64_t count, int64_t axis) const {
  if (count == 1) return {x};
  const Expr all = c_.call("split", {x}, {{"indices_or_sections", count}, {"axis", axis}});
  std::vector<Expr> made;
  for (int64_t i = 0; i < count; ++i) made.push_back(c_.item(all, static_cast<int>(i)));
  return made;
}

Expr Formulas::along(const Expr& vector, int rank, int axis) const {
  const TensorTypeNode& type = tensor_type(vector);
  if (type.rank() != 1 || type.shape().at(0) == Dim(1)) return vector;
  return expanded(vector, 1, rank - 1 - axis);
}

Expr Formulas::positions(const Expr& x, int axis) const {
  const TensorTypeNode& type = tensor_type(x);
  const DType int64 = DType::int_(64);
  if (const Dim extent = type.shape().at(static_cast<size_t>(axis)); !extent.is_any()) {
    const auto number = [&](int64_t value) { return c_.scalar(static_cast<double>(value), int64); };
    return c_.call("arange", {number(0), number(extent.value()), number(1)}, {{"dtype", int64}});
  }
  // Counted, so that the result has the same extent.
  Expr line = x;
  for (int other = type.rank(); other-- > 0;)
    if (other != axis) line = taken(line, other, 0);
  const Expr ones = c_.cast(c_.call("ones_like", {line}), int64);
  return c_.call("cumsum", {ones}, {{"axis", int64_t{0}}, {"exclusive", true}});
}

}  // namespace baton::onnx
