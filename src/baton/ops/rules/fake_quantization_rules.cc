#include "baton/ops/rules/fake_quantization_rules.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "baton/ops/qnn/qnn_build.h"

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

// mean, avg_pool2d: sums in int32, so that they do not overflow, and back.
Result through_int32(const At& at) {
  const auto& [expr, type] = at.args[0];
  if (!type || type->per_channel()) return {};
  return AffineExpr{cast_to(apply_like(at.call.op()->name, {cast_to(expr, kInt32)}, at.call), type->dtype), *type};
}

// exp, sqrt, ...: the quantised function, straight to what the region ends as.
Result function(const At& at, const std::string& name) {
  const auto& [expr, type] = at.args[0];
  if (!type || !at.out || type->per_channel() || at.out->per_channel() || type->dtype.bits != 8) return {};
  AffineType out = *at.out;
  out.dtype = type->dtype;
  return AffineExpr{apply_like(name, {expr, type->scale, type->zero_point, out.scale, out.zero_point}, at.call), out};
}

Result relu(const At& at) {
  const auto& [expr, type] = at.args[0];
  if (!type) return {};
  const Expr zero = spread_as(type->zero_point, type->dtype, rank_of(at.call.args()[0]), type->axis);
  return AffineExpr{apply("maximum", {expr, zero}), *type};
}

Result clip(const At& at) {
  const auto& [expr, type] = at.args[0];
  if (!type) return {};
  const double least = float_attr(at.call, "a_min"), most = float_attr(at.call, "a_max");
  const auto scale = scalar_value(type->scale), zero = scalar_value(type->zero_point);
  if (scale && zero) {
    const NamedAttrs bounds = {{"a_min", std::trunc(least / *scale + *zero)}, {"a_max", std::trunc(most / *scale + *zero)}};
    return AffineExpr{apply("clip", {expr}, bounds), *type};
  }
  const auto bound = [&](double value) -> Expr {
    const auto scales = constant_values(type->scale);
    if (!scales) return {};
    const Expr values = constant_vector(std::vector<double>(scales->size(), value), kFloat32);
    const Expr quantized = apply("qnn.quantize", {values, type->scale, type->zero_point}, {{"out_dtype", type->dtype}, {"axis", 0}});
    return along_axis(quantized, rank_of(at.call.args()[0]), front_axis(type->axis, rank_of(at.call.args()[0])));
  };
  const Expr low = bound(least), high = bound(most);
  if (!low) return {};
  return AffineExpr{apply("minimum", {apply("maximum", {expr, low}), high}), *type};
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
    constant.expr = apply("qnn.quantize", {constant.expr, other.type->scale, other.type->zero_point}, {{"out_dtype", other.type->dtype}});
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

/// int32 numbers of one scale, what products and their biases are, add up as they are.
Result int32_sum(const At& at) {
  At::Arg lhs = at.args[0], rhs = at.args[1];
  if (!lhs.type && !rhs.type) return {};
  const AffineType type = lhs.type ? *lhs.type : *rhs.type;
  const bool constant = !lhs.type || !rhs.type;
  if (type.is_tuple() || type.dtype != kInt32 || !is_zero(type.zero_point) || (constant && type.per_channel())) return {};
  for (At::Arg* each : {&lhs, &rhs}) {
    if (each->type && !same_affine(*each->type, type)) return {};
    if (!each->type) each->expr = apply("qnn.quantize", {each->expr, type.scale, type.zero_point}, {{"out_dtype", kInt32}});
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
  return AffineExpr{apply(name, {lhs.expr, rhs.expr, lhs.type->scale, lhs.type->zero_point, rhs.type->scale, rhs.type->zero_point,
                                 out.scale, out.zero_point}, axes),
                    out};
}

Result extremum(const At& at) {
  const auto both = operands(at);
  if (!both) return {};
  const Expr lhs = requantized(both->lhs.expr, *both->lhs.type, both->out), rhs = requantized(both->rhs.expr, *both->rhs.type, both->out);
  return AffineExpr{apply(at.call.op()->name, {lhs, rhs}), both->out};
}

FakeQuantizationRule function_rule(const char* name) {
  return {[name](const At& at) { return function(at, name); }};
}

FakeQuantizationRule arithmetic_rule(const char* name) {
  return {[name](const At& at) { return arithmetic(at, name); }};
}

std::unordered_map<std::string_view, FakeQuantizationRule> rules() {
  std::unordered_map<std::string_view, FakeQuantizationRule> all;
  for (const char* name : {"nn.max_pool2d", "max", "min", "image.resize2d", "nn.depth_to_space", "broadcast_to"})
    all[name] = {fake_quantized_same};
  for (const char* name : {"mean", "nn.avg_pool2d", "nn.global_avg_pool2d", "nn.adaptive_avg_pool1d"}) all[name] = {through_int32};
  for (const char* name : {"reshape", "squeeze", "nn.batch_flatten"}) all[name] = {fake_quantized_reshape};
  for (const char* name : {"minimum", "maximum"}) all[name] = {extremum};
  all["abs"] = function_rule("qnn.abs");
  all["erf"] = function_rule("qnn.erf");
  all["exp"] = function_rule("qnn.exp");
  all["hardswish"] = function_rule("qnn.hardswish");
  all["log"] = function_rule("qnn.log");
  all["nn.leaky_relu"] = function_rule("qnn.leaky_relu");
  all["rsqrt"] = function_rule("qnn.rsqrt");
  all["sigmoid"] = function_rule("qnn.sigmoid");
  all["sqrt"] = function_rule("qnn.sqrt");
  all["tanh"] = function_rule("qnn.tanh");
  all["add"] = arithmetic_rule("qnn.add");
  all["multiply"] = arithmetic_rule("qnn.mul");
  all["subtract"] = arithmetic_rule("qnn.subtract");
  all["clip"] = {clip};
  all["nn.relu"] = {relu};
  all["concatenate"] = {fake_quantized_concatenate};
  all["expand_dims"] = {fake_quantized_expand_dims};
  all["nn.batch_matmul"] = {fake_quantized_batch_matmul};
  all["nn.bias_add"] = {fake_quantized_bias_add};
  all["nn.conv2d"] = {fake_quantized_conv2d};
  all["nn.conv2d_transpose"] = {fake_quantized_conv2d_transpose};
  all["nn.dense"] = {fake_quantized_dense};
  all["nn.pad"] = {fake_quantized_pad};
  all["split"] = {fake_quantized_split};
  all["strided_slice"] = {fake_quantized_strided_slice};
  all["topk"] = {fake_quantized_topk};
  all["transpose"] = {fake_quantized_transpose};
  return all;
}

}  // namespace

const FakeQuantizationRule* fake_quantization_rule_of(const OpDef& op) {
  if (const auto* own = op.rules.get<FakeQuantizationRule>()) return own;
  static const std::unordered_map<std::string_view, FakeQuantizationRule> listed = rules();
  const auto at = listed.find(op.name);
  return at == listed.end() ? nullptr : &at->second;
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
