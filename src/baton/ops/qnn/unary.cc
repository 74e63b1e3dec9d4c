// Functions of one quantised tensor: dequantise, apply, quantise.
#include <algorithm>
#include <cmath>

#include "baton/ops/nn/leaky_relu_attrs.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/qnn/plain_pairs.h"
#include "baton/ops/qnn/quant_types.h"
#include "baton/ops/qnn/quantized_call.h"
#include "baton/ops/rules/qnn_build.h"

namespace baton {

namespace {

using namespace qnn;

Expr through_float32(const CallNode& call, const std::vector<Type>& types, const Type& type,
                     Expr (*function)(const Expr&)) {
  const Expr x =
      lower_dequantize(call.args()[0], tensor_of(types[0]), pair_at(call, 1), pair_types(types, 1), -1);
  return lower_quantize(function(x), tensor_of(type), pair_at(call, 3), pair_types(types, 3), -1,
                        tensor_of(type).dtype());
}

template <class Element>
NDArray table_of(DType dtype, const Pair& from, const Pair& to, double (*value)(double)) {
  NDArray table = NDArray::empty({256}, dtype);
  const auto in_scale = static_cast<float>(*scalar_value(from.scale)),
             out_scale = static_cast<float>(*scalar_value(to.scale));
  const double in_zero = *scalar_value(from.zero_point), out_zero = *scalar_value(to.zero_point);
  const double least = dtype.is_uint() ? 0 : -128, most = least + 255;
  for (int bits = 0; bits < 256; ++bits) {
    const double number = dtype.is_uint() ? bits : static_cast<double>(static_cast<int8_t>(bits));
    const auto x = static_cast<float>((number - in_zero) * in_scale);
    const auto y = static_cast<float>(value(x));
    double result = std::nearbyint(y / out_scale) + out_zero;
    if (std::isnan(result)) result = 0;
    table.as<Element>()[bits] = static_cast<Element>(std::clamp(result, least, most));
  }
  return table;
}

Expr through_table(const CallNode& call, const Type& type, double (*value)(double)) {
  const Pair from = pair_at(call, 1), to = pair_at(call, 3);
  for (const Expr& member : {from.scale, from.zero_point, to.scale, to.zero_point})
    if (!scalar_value(member)) return {};
  const DType dtype = tensor_of(type).dtype();
  if (dtype.bits != 8) return {};
  const NDArray table =
      dtype.is_uint() ? table_of<uint8_t>(dtype, from, to, value) : table_of<int8_t>(dtype, from, to, value);
  const Expr index =
      dtype.is_uint() ? call.args()[0] : apply("reinterpret", {call.args()[0]}, {{"dtype", DType::uint_(8)}});
  return apply("take", {constant(table), index}, {{"axis", 0}, {"mode", "fast"}});
}

// alpha * x below zero, else x, each with a scale of its own.
Expr canonicalize_leaky_relu(const CallNode& call, const std::vector<Type>& types, const Type& type,
                             const LegalizeTarget& target) {
  const Expr& x = call.args()[0];
  const Pair from = pair_at(call, 1), to = pair_at(call, 3);
  const double alpha = float_attr(call, "alpha");
  const auto known = scalar_value(from.scale);
  const Expr below_scale =
      known ? Expr(scalar(*known * alpha, kFloat32)) : multiply(from.scale, scalar(alpha, kFloat32));
  const auto& data = tensor_of(types[0]);
  const Expr above = lower_requantize(x, data, {from, to, -1, kInt32}, target);
  const Expr below = lower_requantize(x, data, {{below_scale, from.zero_point}, to, -1, kInt32}, target);
  const Expr negative = apply("less", {cast_to(x, kInt32), from.zero_point});
  return narrowed(apply("where", {negative, below, above}), tensor_of(type).dtype());
}

LegalizeRule quantized_leaky_relu_rule() { return with_plain_pairs(1, {{}, {}, canonicalize_leaky_relu}); }

// A function of one tensor: a lookup table if its 256 values are known, else computed in float32.
LegalizeRule quantized_function_rule(Expr (*in_float32)(const Expr& x), double (*value)(double x)) {
  return {{},
          [value](const CallNode& call, const std::vector<Type>&, const Type& type, const LegalizeTarget&) {
            return through_table(call, type, value);
          },
          [in_float32](const CallNode& call, const std::vector<Type>& types, const Type& type,
                       const LegalizeTarget&) { return through_float32(call, types, type, in_float32); }};
}

// (data, scale, zero point, scale of the result, zero point of the result) -> data's type.
RelationStatus quantized_unary_relation(RelationContext& ctx) {
  if (!tensors_known(ctx, 0, 4)) return kDefer;
  if (!check_dtype(ctx, 0, {DType::int_(8), DType::uint_(8)})) return kFailed;
  if (!check_scalar_pair(ctx, 1) || !check_scalar_pair(ctx, 3)) return kFailed;
  return ctx.assign_result(ctx.input(0));
}

OpDef unary(const char* name, const char* doc, Expr (*in_float32)(const Expr&), double (*value)(double),
            Fuse fuse = Fuse::kOpaque) {
  return OpSpec<>{
      .name = name,
      .doc = doc,
      .inputs = {{"data", "int8 or uint8 tensor"},
                 {"scale", "float32 scalar"},
                 {"zero_point", "int32 scalar"},
                 {"output_scale", "float32 scalar"},
                 {"output_zero_point", "int32 scalar"}},
      .fuse = fuse,
      .relation = [](RelationContext& ctx, const NoAttrs&) { return quantized_unary_relation(ctx); },
      .non_computational = true,
      .python = std::string(name) + "(x, scale, zero_point, output_scale, output_zero_point)",
      .rules = op_rules(with_plain_pairs(1, quantized_function_rule(in_float32, value))),
  };
}

Expr hardswish(const Expr& x) {
  const Expr gate =
      qnn::apply("clip", {qnn::add(x, scalar(3, qnn::kFloat32))}, {{"a_min", 0.0}, {"a_max", 6.0}});
  return qnn::multiply(x, qnn::divide(gate, scalar(6, qnn::kFloat32)));
}

}  // namespace

const OpDef& op_qnn_abs() {
  static const OpDef def = unary(
      "qnn.abs", "The absolute value of a quantised tensor.",
      [](const Expr& x) { return qnn::apply("abs", {x}); }, [](double x) { return std::fabs(x); });
  return def;
}

const OpDef& op_qnn_erf() {
  static const OpDef def = unary(
      "qnn.erf", "The error function of a quantised tensor.",
      [](const Expr& x) { return qnn::apply("erf", {x}); }, [](double x) { return std::erf(x); });
  return def;
}

const OpDef& op_qnn_exp() {
  static const OpDef def = unary(
      "qnn.exp", "e to the power of a quantised tensor.",
      [](const Expr& x) { return qnn::apply("exp", {x}); }, [](double x) { return std::exp(x); });
  return def;
}

const OpDef& op_qnn_hardswish() {
  static const OpDef def = unary("qnn.hardswish", "x * min(max(x + 3, 0), 6) / 6 of a quantised tensor.",
                                 hardswish, [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; });
  return def;
}

const OpDef& op_qnn_log() {
  static const OpDef def = unary(
      "qnn.log", "The natural logarithm of a quantised tensor.",
      [](const Expr& x) { return qnn::apply("log", {x}); }, [](double x) { return std::log(x); });
  return def;
}

const OpDef& op_qnn_rsqrt() {
  static const OpDef def = unary(
      "qnn.rsqrt", "1 / sqrt(x) of a quantised tensor.",
      [](const Expr& x) { return qnn::apply("rsqrt", {x}); }, [](double x) { return 1 / std::sqrt(x); });
  return def;
}

const OpDef& op_qnn_sigmoid() {
  static const OpDef def = unary(
      "qnn.sigmoid", "1 / (1 + exp(-x)) of a quantised tensor.",
      [](const Expr& x) { return qnn::apply("sigmoid", {x}); },
      [](double x) { return 1 / (1 + std::exp(-x)); });
  return def;
}

const OpDef& op_qnn_sqrt() {
  static const OpDef def = unary(
      "qnn.sqrt", "The square root of a quantised tensor.",
      [](const Expr& x) { return qnn::apply("sqrt", {x}); }, [](double x) { return std::sqrt(x); });
  return def;
}

const OpDef& op_qnn_tanh() {
  static const OpDef def = unary(
      "qnn.tanh", "The hyperbolic tangent of a quantised tensor.",
      [](const Expr& x) { return qnn::apply("tanh", {x}); }, [](double x) { return std::tanh(x); },
      Fuse::kElementwise);
  return def;
}

const OpDef& op_qnn_leaky_relu() {
  static const OpDef def = OpSpec<LeakyReluAttrs>{
      .name = "qnn.leaky_relu",
      .doc = "x where it is positive, else alpha * x, of a quantised tensor.",
      .inputs = {{"data", "int8 or uint8 tensor"},
                 {"input_scale", "float32 scalar"},
                 {"input_zero_point", "int32 scalar"},
                 {"output_scale", "float32 scalar"},
                 {"output_zero_point", "int32 scalar"}},
      .relation = [](RelationContext& ctx, const LeakyReluAttrs&) { return quantized_unary_relation(ctx); },
      .non_computational = true,
      .rules = op_rules(quantized_leaky_relu_rule()),
  };
  return def;
}

}  // namespace baton
