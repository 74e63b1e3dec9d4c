// Functions of one quantised tensor: dequantised, the function, quantised again.
#include "baton/ops/nn/leaky_relu_attrs.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/qnn/quant_types.h"

namespace baton {

namespace {

// (data, scale, zero point, scale of the result, zero point of the result) -> data's type.
RelationStatus quantized_unary_relation(RelationContext& ctx) {
  if (!tensors_known(ctx, 0, 4)) return kDefer;
  if (!check_dtype(ctx, 0, {DType::int_(8), DType::uint_(8)})) return kFailed;
  if (!check_scalar_pair(ctx, 1) || !check_scalar_pair(ctx, 3)) return kFailed;
  return ctx.assign_result(ctx.input(0));
}

OpDef unary(const char* name, const char* doc, Fuse fuse = Fuse::kOpaque) {
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
  };
}

}  // namespace

#define QUANTIZED_UNARY(function, ...)      \
  const OpDef& function() {                 \
    static const OpDef def = unary(__VA_ARGS__); \
    return def;                             \
  }
QUANTIZED_UNARY(op_qnn_abs, "qnn.abs", "The absolute value of a quantised tensor.")
QUANTIZED_UNARY(op_qnn_erf, "qnn.erf", "The error function of a quantised tensor.")
QUANTIZED_UNARY(op_qnn_exp, "qnn.exp", "e to the power of a quantised tensor.")
QUANTIZED_UNARY(op_qnn_hardswish, "qnn.hardswish", "x * min(max(x + 3, 0), 6) / 6 of a quantised tensor.")
QUANTIZED_UNARY(op_qnn_log, "qnn.log", "The natural logarithm of a quantised tensor.")
QUANTIZED_UNARY(op_qnn_rsqrt, "qnn.rsqrt", "1 / sqrt(x) of a quantised tensor.")
QUANTIZED_UNARY(op_qnn_sigmoid, "qnn.sigmoid", "1 / (1 + exp(-x)) of a quantised tensor.")
QUANTIZED_UNARY(op_qnn_sqrt, "qnn.sqrt", "The square root of a quantised tensor.")
QUANTIZED_UNARY(op_qnn_tanh, "qnn.tanh", "The hyperbolic tangent of a quantised tensor.", Fuse::kElementwise)
#undef QUANTIZED_UNARY

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
  };
  return def;
}

}  // namespace baton
