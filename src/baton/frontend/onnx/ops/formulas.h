#pragma once
// Operators on typed expressions in short forms, so that rules read as the formulas that they are.
#include <string_view>
#include <vector>

#include "baton/frontend/onnx/conversion.h"

namespace baton::onnx {

inline constexpr DType kFloat32 = DType::float_(32), kInt64 = DType::int_(64), kInt32 = DType::int_(32),
                       kInt16 = DType::int_(16), kInt8 = DType::int_(8), kUInt16 = DType::uint_(16),
                       kUInt8 = DType::uint_(8), kBool = DType::bool_();

class Formulas {
 public:
  explicit Formulas(const Conversion& c) : c_(c) {}

  // ---- Elementwise; operands broadcast.
  Expr add(const Expr& a, const Expr& b) const { return c_.call("add", {a, b}); }
  Expr sub(const Expr& a, const Expr& b) const { return c_.call("subtract", {a, b}); }
  Expr mul(const Expr& a, const Expr& b) const { return c_.call("multiply", {a, b}); }
  Expr div(const Expr& a, const Expr& b) const { return c_.call("divide", {a, b}); }
  Expr where(const Expr& condition, const Expr& a, const Expr& b) const {
    return c_.call("where", {condition, a, b});
  }
  Expr of(std::string_view op, const Expr& x) const { return c_.call(op, {x}); }
  Expr of(std::string_view op, const Expr& a, const Expr& b) const { return c_.call(op, {a, b}); }
  Expr cast(const Expr& x, DType dtype) const { return c_.cast(x, dtype); }
  /// A scalar of the element type of `like`.
  Expr number(double value, const Expr& like) const { return c_.scalar(value, dtype_of(like)); }
  Expr scaled(double factor, const Expr& x) const { return factor == 1 ? x : mul(x, number(factor, x)); }
  Expr plus(const Expr& x, double value) const { return value == 0 ? x : add(x, number(value, x)); }
  Expr clipped(const Expr& x, double low, double high) const {
    return c_.call("clip", {x}, {{"a_min", low}, {"a_max", high}});
  }
  /// To the nearest integer, halves to the even one: Relay's operator rounds them away from zero.
  Expr round_even(const Expr& x) const;

  // ---- Along axes.
  Expr sum(const Expr& x, std::vector<int64_t> axes, bool keeps = true) const {
    return over("sum", x, axes, keeps);
  }
  Expr mean(const Expr& x, std::vector<int64_t> axes, bool keeps = true) const {
    return over("mean", x, axes, keeps);
  }
  Expr most(const Expr& x, std::vector<int64_t> axes, bool keeps = true) const {
    return over("max", x, axes, keeps);
  }
  Expr least(const Expr& x, std::vector<int64_t> axes, bool keeps = true) const {
    return over("min", x, axes, keeps);
  }
  /// `count` unit axes at `axis`.
  Expr expanded(const Expr& x, int64_t axis, int64_t count = 1) const {
    return count == 0 ? x : c_.call("expand_dims", {x}, {{"axis", axis}, {"num_newaxis", count}});
  }
  Expr squeezed(const Expr& x, std::vector<int64_t> axes) const {
    return c_.call("squeeze", {x}, {{"axis", std::move(axes)}});
  }
  /// The elements from `begin` to before `end`; every `step`-th of them.
  Expr sliced(const Expr& x, int64_t axis, int64_t begin, int64_t end, int64_t step = 1) const;
  /// The element `index` along `axis`, which is gone then.
  Expr taken(const Expr& x, int64_t axis, int64_t index) const;
  Expr joined(std::vector<Expr> parts, int64_t axis) const;
  /// So many equal parts.
  std::vector<Expr> parts(const Expr& x, int64_t count, int64_t axis) const;
  /// A vector of channels, shaped to broadcast with a tensor of rank `rank` along `axis`. Scalars and vectors
  /// of one element stay.
  Expr along(const Expr& vector, int rank, int axis) const;
  /// 0, 1, 2, ... as int64, as many as `x` has elements along `axis`; also where that is not known yet.
  Expr positions(const Expr& x, int axis) const;

  static DType dtype_of(const Expr& x) { return tensor_type(x).dtype(); }

 private:
  Expr over(std::string_view op, const Expr& x, std::vector<int64_t>& axes, bool keeps) const {
    return axes.empty() ? x : c_.call(op, {x}, {{"axis", std::move(axes)}, {"keepdims", keeps}});
  }
  const Conversion& c_;
};

}  // namespace baton::onnx
