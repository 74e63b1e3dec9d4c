// Quantisation and dequantisation, and their float32 simulations.
#include "baton/ir/attrs.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/qnn/plain_pairs.h"
#include "baton/ops/qnn/quant_types.h"
#include "baton/ops/qnn/quantized_call.h"
#include "baton/ops/rules/qnn_build.h"

namespace baton {

struct QuantizeAttrs {
  DType out_dtype = {};
  int64_t axis = -1;  ///< the channels, when scale and zero point are vectors
  std::string rounding = "TONEAREST";
};

struct DequantizeAttrs {
  int64_t axis = -1;
};

struct RequantizeAttrs {
  int64_t axis = -1;
  std::string rounding = "None";
  std::string compute_dtype = "None";
  DType out_dtype = {};
};

/// qnn.simulated_quantize, whose simulated element type is an input, and the annotation of that name.
struct SimulatedQuantizeAttrs {
  int64_t axis = -1;
};

namespace {

constexpr const char* kAxisDoc = "axis of the channels, when scale and zero point are vectors";

}  // namespace

template <>
const AttrSchema& attr_schema<QuantizeAttrs>() {
  using A = QuantizeAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.QuantizeAttrs",
      {{"out_dtype", &A::out_dtype, "element type of the result", kNoDefault},
       {"axis", &A::axis, kAxisDoc},
       {"rounding", &A::rounding, "TONEAREST (halves away from zero) or TONEVEN (halves to even)"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<DequantizeAttrs>() {
  using A = DequantizeAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.DequantizeAttrs", {{"axis", &A::axis, kAxisDoc}});
  return schema;
}

template <>
const AttrSchema& attr_schema<RequantizeAttrs>() {
  using A = RequantizeAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.RequantizeAttrs",
      {{"axis", &A::axis, kAxisDoc},
       {"rounding", &A::rounding,
        "UPWARD, TONEAREST (halves away from zero) or TONEVEN (halves to even); None: the configured one"},
       {"compute_dtype", &A::compute_dtype,
        "type of the arithmetic in between: int64, float32 or float64; None: the configured one"},
       {"out_dtype", &A::out_dtype, "element type of the result"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<SimulatedQuantizeAttrs>() {
  using A = SimulatedQuantizeAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.SimulatedQuantizeAttrs", {{"axis", &A::axis, kAxisDoc}});
  return schema;
}

namespace {

using namespace qnn;

LegalizeRule quantize_rule() {
  return {{},
          {},
          [](const CallNode& call, const std::vector<Type>& types, const Type& type, const LegalizeTarget&) {
            return lower_quantize(call.args()[0], tensor_of(types[0]), pair_at(call, 1), pair_types(types, 1),
                                  int_attr(call, "axis"), tensor_of(type).dtype(),
                                  text_attr(call, "rounding") == "TONEVEN");
          }};
}

LegalizeRule dequantize_rule() {
  return {
      {}, {}, [](const CallNode& call, const std::vector<Type>& types, const Type&, const LegalizeTarget&) {
        return lower_dequantize(call.args()[0], tensor_of(types[0]), pair_at(call, 1), pair_types(types, 1),
                                int_attr(call, "axis"));
      }};
}

LegalizeRule requantize_rule() {
  return {{},
          {},
          [](const CallNode& call, const std::vector<Type>& types, const Type& type,
             const LegalizeTarget& target) {
            return lower_requantize(
                call.args()[0], tensor_of(types[0]),
                {pair_at(call, 1), pair_at(call, 3), int_attr(call, "axis"), tensor_of(type).dtype(),
                 text_attr(call, "rounding"), text_attr(call, "compute_dtype")},
                target);
          }};
}

RelationStatus quantize_relation(RelationContext& ctx, const QuantizeAttrs& attrs) {
  if (!tensors_known(ctx, 0, 2)) return kDefer;
  if (!check_dtype(ctx, 0, {DType::float_(32)})) return kFailed;
  if (!check_out_dtype(ctx, attrs.out_dtype, {kInt8, kUInt8, kInt16, kInt32})) return kFailed;
  if (attrs.rounding != "TONEAREST" && attrs.rounding != "TONEVEN")
    return fail_attr(ctx, "rounding", "\"" + attrs.rounding + "\"", "it must be TONEAREST or TONEVEN");
  if (!check_pair_along(ctx, 1, 0, attrs.axis)) return kFailed;
  return same_shape_relation(ctx, attrs.out_dtype);
}

RelationStatus dequantize_relation(RelationContext& ctx, const DequantizeAttrs& attrs) {
  if (!tensors_known(ctx, 0, 2)) return kDefer;
  if (!check_dtype(ctx, 0, {kInt8, kUInt8, kInt16, kInt32})) return kFailed;
  if (!check_pair_along(ctx, 1, 0, attrs.axis)) return kFailed;
  return same_shape_relation(ctx, DType::float_(32));
}

RelationStatus requantize_relation(RelationContext& ctx, const RequantizeAttrs& attrs) {
  if (!tensors_known(ctx, 0, 4)) return kDefer;
  if (!check_dtype(ctx, 0, {kInt8, kUInt8, kInt16, kInt32, kInt64})) return kFailed;
  if (!check_pair_along(ctx, 1, 0, attrs.axis) || !check_scalar_pair(ctx, 3)) return kFailed;
  if (!check_out_dtype(ctx, attrs.out_dtype, {kInt8, kUInt8, kInt16, kInt32})) return kFailed;
  return same_shape_relation(ctx, attrs.out_dtype);
}

// A simulated scale or zero point: a scalar, one value for all channels as a vector of 1, or one value per
// channel.
bool check_simulated(RelationContext& ctx, int arg, DType dtype, int64_t axis) {
  const TensorTypeNode& tensor = *ctx.tensor(arg);
  if (tensor.rank() == 0) return check_scalar(ctx, arg, dtype);
  const auto at = checked_axis(ctx, axis, ctx.tensor(0)->rank());
  if (!at) return false;
  const bool one = tensor.rank() == 1 && tensor.shape()[0] == Dim(1);
  return check_per_channel(ctx, arg, dtype, one ? Dim(1) : ctx.tensor(0)->shape()[*at]);
}

// (data, number of the element type, scale, zero point) -> data's type.
RelationStatus simulated_relation(RelationContext& ctx, int64_t axis) {
  if (!tensors_known(ctx, 0, 3)) return kDefer;
  if (!check_dtype(ctx, 0, {DType::float_(32)}) || !check_scalar(ctx, 1, kInt32)) return kFailed;
  if (!check_simulated(ctx, 2, kScaleType, axis) || !check_simulated(ctx, 3, kZeroPointType, axis))
    return kFailed;
  return ctx.assign_result(ctx.input(0));
}

}  // namespace

const OpDef& op_qnn_quantize() {
  static const OpDef def = OpSpec<QuantizeAttrs>{
      .name = "qnn.quantize",
      .doc = "round(data / scale) + zero point, clipped to the range of out_dtype.",
      .inputs = {{"data", "float32 tensor"},
                 {"output_scale", "float32 scalar, or one value per channel"},
                 {"output_zero_point", "int32 scalar, or one value per channel"}},
      .fuse = Fuse::kElementwise,
      .relation = quantize_relation,
      .non_computational = true,
      .python = "qnn.quantize(data, output_scale, output_zero_point, axis=-1, out_dtype='int8')",
      .rules = op_rules(with_plain_pairs(1, quantize_rule())),
  };
  return def;
}

const OpDef& op_qnn_dequantize() {
  static const OpDef def = OpSpec<DequantizeAttrs>{
      .name = "qnn.dequantize",
      .doc = "(data - zero point) * scale, in float32.",
      .inputs = {{"data", "int8, uint8, int16 or int32 tensor"},
                 {"input_scale", "float32 scalar, or one value per channel"},
                 {"input_zero_point", "int32 scalar, or one value per channel"}},
      .fuse = Fuse::kElementwise,
      .relation = dequantize_relation,
      .non_computational = true,
      .rules = op_rules(with_plain_pairs(1, dequantize_rule())),
  };
  return def;
}

const OpDef& op_qnn_requantize() {
  static const OpDef def = OpSpec<RequantizeAttrs>{
      .name = "qnn.requantize",
      .doc = "A quantised tensor with another scale, zero point and element type.",
      .inputs = {{"data", "int8, uint8, int16, int32 or int64 tensor"},
                 {"input_scale", "float32 scalar, or one value per channel"},
                 {"input_zero_point", "int32 scalar, or one value per channel"},
                 {"output_scale", "float32 scalar"},
                 {"output_zero_point", "int32 scalar"}},
      .fuse = Fuse::kElementwise,
      .relation = requantize_relation,
      .non_computational = true,
      .python =
          "qnn.requantize(data, input_scale, input_zero_point, output_scale, output_zero_point, axis=-1, "
          "rounding='None', compute_dtype='None', out_dtype='int8')",
      .rules = op_rules(with_plain_pairs(1, requantize_rule()), axis_layout_flow()),
  };
  return def;
}

const OpDef& op_qnn_simulated_quantize() {
  static const OpDef def = OpSpec<SimulatedQuantizeAttrs>{
      .name = "qnn.simulated_quantize",
      .doc = "What qnn.quantize gives, as float32; the element type is a number that is known at run time.",
      .inputs = {{"data", "float32 tensor"},
                 {"out_dtype", "int32 scalar: which element type"},
                 {"output_scale", "float32 scalar, vector of 1, or one value per channel"},
                 {"output_zero_point", "int32 scalar, vector of 1, or one value per channel"}},
      .fuse = Fuse::kElementwise,
      .relation = [](RelationContext& ctx,
                     const SimulatedQuantizeAttrs& attrs) { return simulated_relation(ctx, attrs.axis); },
  };
  return def;
}

const OpDef& op_qnn_simulated_dequantize() {
  static const OpDef def = OpSpec<DequantizeAttrs>{
      .name = "qnn.simulated_dequantize",
      .doc = "What qnn.dequantize gives, of quantised numbers that are held as float32.",
      .inputs = {{"data", "float32 tensor"},
                 {"in_dtype", "int32 scalar: which element type"},
                 {"input_scale", "float32 scalar, vector of 1, or one value per channel"},
                 {"input_zero_point", "int32 scalar, vector of 1, or one value per channel"}},
      .fuse = Fuse::kElementwise,
      .relation = [](RelationContext& ctx,
                     const DequantizeAttrs& attrs) { return simulated_relation(ctx, attrs.axis); },
  };
  return def;
}

}  // namespace baton
