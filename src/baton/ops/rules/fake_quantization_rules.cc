#include "baton/ops/rules/fake_quantization_rules.h"

#include <algorithm>
#include <cmath>

#include "baton/ir/structural.h"
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
  const auto out = with_dtype(*at.out, type->dtype);
  if (!out) return {};
  return AffineExpr{
      apply_like(name, {expr, type->scale, type->zero_point, out->scale, out->zero_point}, at.call), *out};
}

bool is_in_range(double value, DType dtype) {
  const double least = dtype.is_uint() ? 0 : -std::ldexp(1.0, dtype.bits - 1);
  return value >= least && value < least + std::ldexp(1.0, dtype.bits);
}

// Whether cells of the padding, which are 0, count for the mean.
bool counts_padding(const CallNode& call) {
  const AttrSchema& schema = call.attrs()->schema();
  if (!schema.find("count_include_pad") || !bool_attr(call, "count_include_pad")) return false;
  return std::ranges::any_of(ints_attr(call, "padding"), [](int64_t cells) { return cells != 0; });
}

}  // namespace

Result fake_quantized_through_int32(const At& at) {
  const auto& [expr, type] = at.args[0];
  if (!type || type->per_channel()) return {};
  return AffineExpr{cast_to(apply_like(at.call.op()->name, {cast_to(expr, kInt32)}, at.call), type->dtype),
                    *type};
}

// Requantised before it is averaged, so that the mean is rounded once, in steps of the result.
Result fake_quantized_average_pool(const At& at) {
  const auto& [expr, type] = at.args[0];
  if (!type || type->is_tuple()) return {};
  const AffineType out = at.out ? *at.out : *type;
  if (out.per_channel()) return {};
  AffineType wide = out;
  // Padding that counts is 0 as a number, so the zero point is added afterwards.
  const bool shifted = counts_padding(at.call) && !is_scalar(out.zero_point, 0);
  if (shifted) wide.zero_point = int32_scalar(0);
  wide.dtype = kInt32;
  const bool only_cast = !shifted && same_affine(*type, out);
  Expr mean = apply_like(at.call.op()->name,
                         {only_cast ? cast_to(expr, kInt32) : requantized(expr, *type, wide)}, at.call);
  if (shifted) mean = add(mean, out.zero_point);
  return AffineExpr{out.dtype == kInt32 ? mean : cast_to(clip_to(mean, out.dtype), out.dtype), out};
}

Result fake_quantized_relu(const At& at) {
  const auto& [expr, type] = at.args[0];
  if (!type) return {};
  if (const auto known = scalar_value(type->zero_point); known && !is_in_range(*known, type->dtype))
    return {};
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
  // One bound for all channels, or one for each.
  const int rank = rank_of(at.call.args()[0]);
  const std::optional<int64_t> channels = channels_of(*type);
  if (type->per_channel() && !channels) return {};
  const auto bound = [&](double value) -> Expr {
    const Expr number = channels ? constant_vector(std::vector<double>(*channels, value), kFloat32)
                                 : Expr(scalar(value, kFloat32));
    const Expr quantized = apply("qnn.quantize", {number, type->scale, type->zero_point},
                                 {{"out_dtype", type->dtype}, {"axis", channels ? 0 : -1}});
    return channels ? along_axis(quantized, rank, front_axis(type->axis, rank)) : quantized;
  };
  const Expr low = bound(least), high = bound(most);
  return AffineExpr{apply("minimum", {apply("maximum", {expr, low}), high}), *type};
}

FakeQuantizationRule fake_quantized_function(const char* name) {
  return {[name](const At& at) { return function(at, name); }, /*without_end=*/false};
}

bool AffineType::per_channel() const {
  const auto vector = [](const Expr& member) {
    const TensorTypeNode* type = tensor_type_of(member);
    return type && type->rank() > 0;
  };
  return is_tuple() || vector(scale) || vector(zero_point);
}

std::optional<int64_t> channels_of(const AffineType& type) {
  for (const Expr& member : {type.scale, type.zero_point}) {
    const TensorTypeNode* own = member ? static_type_of(member) : nullptr;
    if (own && own->rank() > 0) return own->extents()[0];
  }
  return std::nullopt;
}

std::optional<AffineType> with_dtype(const AffineType& type, DType dtype) {
  AffineType wide = type;
  wide.dtype = dtype;
  if (type.dtype == dtype || type.dtype.bits < dtype.bits) return wide;
  const auto zero = scalar_value(type.zero_point);
  if (!zero || type.dtype.bits != dtype.bits) return std::nullopt;
  const auto least = [](DType each) { return each.is_uint() ? 0 : -std::ldexp(1.0, each.bits - 1); };
  AffineType moved = wide;
  moved.zero_point = int32_scalar(static_cast<int64_t>(*zero + least(dtype) - least(type.dtype)));
  return moved;
}

bool nearly_equal(const Expr& a, const Expr& b) {
  if (a == b) return true;
  const auto left = constant_values(a), right = constant_values(b);
  if (!left && !right) return structural_equal(a, b);
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
