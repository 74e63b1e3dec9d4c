// Functions of one quantised tensor: dequantised, the function, quantised again.
#include <algorithm>
#include <cmath>

#include "baton/ops/nn/leaky_relu_attrs.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/qnn/arithmetic_rules.h"
#include "baton/ops/qnn/quant_types.h"
#include "baton/ops/rules/qnn_build.h"

namespace baton {

namespace {

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
      .rules = op_rules(quantized_function_rule(in_float32, value)),
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
