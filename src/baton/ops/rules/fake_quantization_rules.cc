#include "baton/ops/rules/fake_quantization_rules.h"

#include <algorithm>
#include <cmath>

#include "baton/ops/rules/qnn_build.h"

namespace baton {

using namespace qnn;

namespace {

using At = FakeQuantizedCall;
using Result = FakeQuantizedResult;

int rank_of(const Expr& expr) {
  const TensorTypeNode* type = tensor_type_of(expr);
  BATON_CHECK(type, "a quantised region was not typed");
  return type->rank();
}

// exp, sqrt, ...: the quantised function, directly to the region's final type.
Result function(const At& at, const std::string& name) {
  const auto& [expr, type] = at.args[0];
  if (!type || !at.out || type->per_channel() || at.out->per_channel() || type->dtype.bits != 8) return {};
  AffineType out = *at.out;
  out.dtype = type->dtype;
  return AffineExpr{
      apply_like(name, {expr, type->scale, type->zero_point, out.scale, out.zero_point}, at.call), out};
}

// Two operands and the type of the result. A constant takes the other operand's type.
struct Operands {
  At::Arg lhs, rhs;
  AffineType out;
};

std::optional<Operands> operands(const At& at) {
  Operands both{at.args[0], at.args[1], {}};
  if (!both.lhs.type && !both.rhs.type) return std::nullopt;
  const auto quantized = [](At::Arg& constant, const At::Arg& other) {
    constant.expr = apply("qnn.quantize", {constant.expr, other.type->scale, other.type->zero_point},
                          {{"out_dtype", other.type->dtype}});
    constant.type = other.type;
  };
  const bool constant = !both.lhs.type || !both.rhs.type;
  if (constant && (both.lhs.type ? both.lhs : both.rhs).type->per_channel()) return std::nullopt;
  if (!both.lhs.type) quantized(both.lhs, both.rhs);
  if (!both.rhs.type) quantized(both.rhs, both.lhs);
  if (constant || !at.out || at.out->dtype != both.lhs.type->dtype)
    both.out = *both.lhs.type;
  else
    both.out = *at.out;
  if (both.out.per_channel() || both.lhs.type->dtype != both.rhs.type->dtype) return std::nullopt;
  return both;
}

bool is_zero(const Expr& zero_point) {
  const auto values = constant_values(zero_point);
  return values && std::ranges::all_of(*values, [](double value) { return value == 0; });
}

/// int32 operands of equal scale, such as products and their biases, are added directly.
Result int32_sum(const At& at) {
  At::Arg lhs = at.args[0], rhs = at.args[1];
  if (!lhs.type && !rhs.type) return {};
  const AffineType type = lhs.type ? *lhs.type : *rhs.type;
  const bool constant = !lhs.type || !rhs.type;
  if (type.is_tuple() || type.dtype != kInt32 || !is_zero(type.zero_point) ||
      (constant && type.per_channel()))
    return {};
  for (At::Arg* each : {&lhs, &rhs}) {
    if (each->type && !same_affine(*each->type, type)) return {};
    if (!each->type)
      each->expr = apply("qnn.quantize", {each->expr, type.scale, type.zero_point}, {{"out_dtype", kInt32}});
  }
  return AffineExpr{apply("add", {lhs.expr, rhs.expr}), type};
}

Result arithmetic(const At& at, const std::string& name) {
  if (name == "qnn.add")
    if (Result sum = int32_sum(at)) return sum;
  const auto both = operands(at);
  if (!both) return {};
  const auto& [lhs, rhs, out] = *both;
  const NamedAttrs axes = {{"lhs_axis", lhs.type->axis}, {"rhs_axis", rhs.type->axis}};
  return AffineExpr{apply(name,
                          {lhs.expr, rhs.expr, lhs.type->scale, lhs.type->zero_point, rhs.type->scale,
                           rhs.type->zero_point, out.scale, out.zero_point},
                          axes),
                    out};
}

}  // namespace

Result fake_quantized_through_int32(const At& at) {
  const auto& [expr, type] = at.args[0];
  if (!type || type->per_channel()) return {};
  return AffineExpr{cast_to(apply_like(at.call.op()->name, {cast_to(expr, kInt32)}, at.call), type->dtype),
                    *type};
}

Result fake_quantized_relu(const At& at) {
  const auto& [expr, type] = at.args[0];
  if (!type) return {};
  const Expr zero = spread_as(type->zero_point, type->dtype, rank_of(at.call.args()[0]), type->axis);
  return AffineExpr{apply("maximum", {expr, zero}), *type};
}

Result fake_quantized_clip(const At& at) {
  const auto& [expr, type] = at.args[0];
  if (!type) return {};
  const double least = float_attr(at.call, "a_min"), most = float_attr(at.call, "a_max");
  const auto scale = scalar_value(type->scale), zero = scalar_value(type->zero_point);
  if (scale && zero) {
    const NamedAttrs bounds = {{"a_min", std::trunc(least / *scale + *zero)},
                               {"a_max", std::trunc(most / *scale + *zero)}};
    return AffineExpr{apply("clip", {expr}, bounds), *type};
  }
  const auto bound = [&](double value) -> Expr {
    const auto scales = constant_values(type->scale);
    if (!scales) return {};
    const Expr values = constant_vector(std::vector<double>(scales->size(), value), kFloat32);
    const Expr quantized = apply("qnn.quantize", {values, type->scale, type->zero_point},
                                 {{"out_dtype", type->dtype}, {"axis", 0}});
    return along_axis(quantized, rank_of(at.call.args()[0]),
                      front_axis(type->axis, rank_of(at.call.args()[0])));
  };
  const Expr low = bound(least), high = bound(most);
  if (!low) return {};
  return AffineExpr{apply("minimum", {apply("maximum", {expr, low}), high}), *type};
}

Result fake_quantized_extremum(const At& at) {
  const auto both = operands(at);
  if (!both) return {};
  const Expr lhs = requantized(both->lhs.expr, *both->lhs.type, both->out),
             rhs = requantized(both->rhs.expr, *both->rhs.type, both->out);
  return AffineExpr{apply(at.call.op()->name, {lhs, rhs}), both->out};
}

FakeQuantizationRule fake_quantized_function(const char* name) {
  return {[name](const At& at) { return function(at, name); }};
}

FakeQuantizationRule fake_quantized_arithmetic(const char* name) {
  return {[name](const At& at) { return arithmetic(at, name); }};
}

bool AffineType::per_channel() const {
  const auto vector = [](const Expr& member) {
    const TensorTypeNode* type = tensor_type_of(member);
    return type && type->rank() > 0;
  };
  return is_tuple() || vector(scale) || vector(zero_point);
}

bool nearly_equal(const Expr& a, const Expr& b) {
  if (a == b) return true;
  const auto left = constant_values(a), right = constant_values(b);
  if (!left || !right || left->size() != right->size()) return false;
  for (size_t i = 0; i < left->size(); ++i)
    if (std::fabs((*left)[i] - (*right)[i]) > 1e-8 + 1e-5 * std::fabs((*right)[i])) return false;
  return true;
}

bool same_affine(const AffineType& a, const AffineType& b) {
  return a.dtype == b.dtype && nearly_equal(a.scale, b.scale) && nearly_equal(a.zero_point, b.zero_point) &&
         (a.axis == b.axis || !a.per_channel());
}

Expr requantized(const Expr& expr, const AffineType& from, const AffineType& to) {
  if (same_affine(from, to)) return expr;
  return apply("qnn.requantize", {expr, from.scale, from.zero_point, to.scale, to.zero_point},
               {{"axis", from.axis}, {"out_dtype", to.dtype}});
}

Expr spread_as(const Expr& vector, DType dtype, int rank, int axis) {
  const TensorTypeNode* type = tensor_type_of(vector);
  const bool scalar_like = !type || type->rank() == 0;
  if (const auto value = scalar_value(vector)) return scalar(*value, dtype);
  const Expr cast = cast_to(vector, dtype);
  return scalar_like ? cast : along_axis(cast, rank, front_axis(axis, rank));
}

}  // namespace baton
