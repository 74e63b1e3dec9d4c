// Fake-quantization rules of operators with two operands.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/qnn_build.h"

namespace baton {

using namespace qnn;

namespace {

using At = FakeQuantizedCall;
using Result = FakeQuantizedResult;

const TensorTypeNode& tensor_operand(const At& at, size_t index) {
  const TensorTypeNode* type = tensor_type_of(at.call.args()[index]);
  BATON_CHECK(type, "a quantised region was not typed");
  return *type;
}

bool all_zero(const Expr& zero_point) {
  const auto values = constant_values(zero_point);
  return values && std::ranges::all_of(*values, [](double value) { return value == 0; });
}

/// The quantisation of a constant that meets an operand of type `other`: that one, unless values lie outside
/// of its range; then one that reaches from the least value to the largest, in the same element type.
AffineType type_for_constant(const Expr& constant, const AffineType& other) {
  const auto values = constant_values(constant);
  const auto scale = scalar_value(other.scale), zero = scalar_value(other.zero_point);
  if (!values || values->empty() || !scale || !zero || other.dtype.bits > 16) return other;
  const double levels = std::ldexp(1.0, other.dtype.bits) - 1;
  const double first = other.dtype.is_uint() ? 0 : -std::ldexp(1.0, other.dtype.bits - 1);
  const double least = std::min(*std::ranges::min_element(*values), 0.0),
               most = std::max(*std::ranges::max_element(*values), 0.0);
  const double half = 0.5 * *scale;
  if (least >= (first - *zero) * *scale - half && most <= (first + levels - *zero) * *scale + half)
    return other;
  AffineType own = other;
  const double step = static_cast<float>((most - least) / levels);
  if (!std::isfinite(step) || step <= 0) return other;
  own.scale = scalar(step, kFloat32);
  own.zero_point = int32_scalar(std::llround(first - least / step));
  return own;
}

// Two operands and the type of the result.
struct Operands {
  At::Arg lhs, rhs;
  AffineType out;
};

/// The operands as quantised tensors of one element type. The result has the quantisation at the end of the
/// region if it is known and of that element type, else that of the first operand.
std::optional<Operands> operands(const At& at) {
  Operands both{at.args[0], at.args[1], {}};
  if (!both.lhs.type && !both.rhs.type) return std::nullopt;
  const auto quantized = [](At::Arg& constant, const At::Arg& other) {
    constant.type = type_for_constant(constant.expr, *other.type);
    constant.expr = apply("qnn.quantize", {constant.expr, constant.type->scale, constant.type->zero_point},
                          {{"out_dtype", constant.type->dtype}});
  };
  const bool constant = !both.lhs.type || !both.rhs.type;
  if (constant && (both.lhs.type ? both.lhs : both.rhs).type->per_channel()) return std::nullopt;
  if (!both.lhs.type) quantized(both.lhs, both.rhs);
  if (!both.rhs.type) quantized(both.rhs, both.lhs);
  if (both.lhs.type->is_tuple() || both.rhs.type->is_tuple()) return std::nullopt;
  both.out = at.out && at.out->dtype == both.lhs.type->dtype ? *at.out : *both.lhs.type;
  return both;
}

/// The position of the channels of `type`, counted from the back of a tensor of rank `rank`.
int channels_from_back(const AffineType& type, int rank) { return rank - front_axis(type.axis, rank); }

/// Operand `index`, in int32 in the quantisation `type`, whose channels, if it has some, are `from_back` axes
/// before the end. Null when the operand has no such axis.
Expr int32_operand(const At& at, size_t index, AffineType type, int from_back) {
  const auto& [expr, own] = at.args[index];
  const TensorTypeNode& tensor = tensor_operand(at, index);
  if (type.per_channel()) {
    const auto channels = channels_of(type);
    if (tensor.rank() < from_back || !channels) return {};
    type.axis = tensor.rank() - from_back;
    if (!(tensor.shape()[type.axis] == Dim(*channels))) return {};
  }
  if (!own)
    return apply("qnn.quantize", {expr, type.scale, type.zero_point},
                 {{"out_dtype", kInt32}, {"axis", type.axis}});
  AffineType placed = *own;
  if (placed.per_channel()) placed.axis = front_axis(placed.axis, tensor.rank());
  if (same_affine(placed, type)) return expr;
  if (!type.per_channel()) return requantized(expr, *own, type);
  // qnn.requantize has a single scale for its result.
  const Expr numbers = apply("qnn.dequantize", {expr, own->scale, own->zero_point}, {{"axis", placed.axis}});
  return apply("qnn.quantize", {numbers, type.scale, type.zero_point},
               {{"out_dtype", kInt32}, {"axis", type.axis}});
}

/// Whether a tensor of this type can be added to without regard of zero points and overflow.
bool is_int32_sum(const std::optional<AffineType>& type) {
  return type && !type->is_tuple() && type->dtype == kInt32 && all_zero(type->zero_point);
}

/// int32 operands, such as products and their biases: under one scale they are added directly, and one with a
/// scale per channel decides on the scale of the other.
Result int32_sum(const At& at) {
  for (const size_t index : {0, 1}) {
    const auto& type = at.args[index].type;
    const auto& other = at.args[1 - index].type;
    if (!is_int32_sum(type) || (other && other->is_tuple())) continue;
    if (!type->per_channel() && other && !same_affine(*other, *type)) continue;
    const int rank = tensor_operand(at, index).rank(),
              wide = std::max(rank, tensor_operand(at, 1 - index).rank());
    const int from_back = type->per_channel() ? channels_from_back(*type, rank) : 0;
    AffineType wanted = *type;
    wanted.axis = -1;
    const Expr added = int32_operand(at, 1 - index, std::move(wanted), from_back);
    if (!added) continue;
    AffineType result = *type;
    if (result.per_channel()) result.axis = wide - from_back;
    const Expr& expr = at.args[index].expr;
    return AffineExpr{index == 0 ? apply("add", {expr, added}) : apply("add", {added, expr}), result};
  }
  return {};
}

Result arithmetic(const At& at, std::string_view name) {
  if (name == "qnn.add")
    if (Result sum = int32_sum(at)) return sum;
  auto both = operands(at);
  if (!both || both->lhs.type->dtype != both->rhs.type->dtype) return {};
  auto& [lhs, rhs, out] = *both;
  // Sums reach over the range of their first operand, and differences below it. A product keeps its first
  // operand's quantisation if the element types differ, as in Relay.
  if (at.out && name != "qnn.mul" && at.out->dtype.bits == lhs.type->dtype.bits)
    if (const auto moved = with_dtype(*at.out, lhs.type->dtype)) out = *moved;
  if (out.per_channel()) return {};
  const NamedAttrs axes = {{"lhs_axis", lhs.type->axis}, {"rhs_axis", rhs.type->axis}};
  return AffineExpr{apply(name,
                          {lhs.expr, rhs.expr, lhs.type->scale, lhs.type->zero_point, rhs.type->scale,
                           rhs.type->zero_point, out.scale, out.zero_point},
                          axes),
                    out};
}

/// `vector` (shape (channels)) shaped to broadcast with a tensor of rank `rank` along `axis`; a constant
/// stays one.
Expr bias_along(const Expr& vector, int rank, int axis) {
  const auto* known = as<ConstantNode>(vector);
  if (!known) return along_axis(vector, rank, axis);
  Shape shape = known->value().shape();
  shape.resize(shape.size() + static_cast<size_t>(rank - 1 - axis), 1);
  return constant(known->value().reshaped(std::move(shape)));
}

}  // namespace

FakeQuantizationRule fake_quantized_arithmetic(const char* name) {
  return {[name](const At& at) { return arithmetic(at, name); }, /*without_end=*/false};
}

Result fake_quantized_extremum(const At& at) {
  const auto both = operands(at);
  if (!both) return {};
  const AffineType &first = *both->lhs.type, &second = *both->rhs.type;
  const AffineType& widest = first.dtype.bits >= second.dtype.bits ? first : second;
  const AffineType& out = at.out && at.out->dtype.bits == widest.dtype.bits ? *at.out : widest;
  if (out.per_channel()) return {};
  const Expr lhs = requantized(both->lhs.expr, *both->lhs.type, out),
             rhs = requantized(both->rhs.expr, *both->rhs.type, out);
  return AffineExpr{apply(at.call.op()->name, {lhs, rhs}), out};
}

Result fake_quantized_bias_add(const At& at) {
  const auto& [data, type] = at.args[0];
  const auto& [bias, bias_type] = at.args[1];
  if (!type || type->is_tuple()) return {};
  const int rank = tensor_operand(at, 0).rank(), axis = front_axis(int_attr(at.call, "axis"), rank);
  if (!is_int32_sum(type)) {
    if (bias_type && bias_type->per_channel()) return {};
    const At sum{at.call, {at.args[0], {bias_along(bias, rank, axis), bias_type}}, at.out};
    return arithmetic(sum, "qnn.add");
  }
  if (type->per_channel() && front_axis(type->axis, rank) != axis) return {};
  AffineType wanted = *type;
  wanted.axis = 0;  // of the bias
  const Expr added = int32_operand(at, 1, std::move(wanted), 1);
  if (!added) return {};
  return AffineExpr{call_expr(at.call.callee(), {data, added}, at.call.attrs()), *type};
}

}  // namespace baton
