// Arithmetic of two quantised tensors.
#include <algorithm>

#include "baton/ir/attrs.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/qnn/plain_pairs.h"
#include "baton/ops/qnn/quant_types.h"
#include "baton/ops/qnn/quantized_call.h"

namespace baton {

/// qnn.add, qnn.subtract and qnn.mul.
struct BroadcastAttrs {
  int64_t lhs_axis = -1, rhs_axis = -1;
};

template <>
const AttrSchema& attr_schema<BroadcastAttrs>() {
  using A = BroadcastAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.BroadcastAttrs",
      {{"lhs_axis", &A::lhs_axis, "axis of the channels of lhs, when its scale or zero point is a vector"},
       {"rhs_axis", &A::rhs_axis, "axis of the channels of rhs, when its scale or zero point is a vector"}});
  return schema;
}

namespace {

using namespace qnn;

Expr as_result(const CallNode& call, const std::vector<Type>& types, size_t index, const char* axis,
               const LegalizeTarget& target) {
  const Expr& x = call.args()[index];
  const Pair from = pair_at(call, 2 + 2 * index), to = pair_at(call, 6);
  if (same_pair(from, to)) return cast_to(x, kInt32);
  return lower_requantize(x, tensor_of(types[index]), {from, to, int_attr(call, axis), kInt32}, target);
}

LegalizeRule::Rewrite sum_rewrite(const char* op) {
  return [op](const CallNode& call, const std::vector<Type>& types, const Type& type,
              const LegalizeTarget& target) -> Expr {
    const Expr lhs = as_result(call, types, 0, "lhs_axis", target),
               rhs = as_result(call, types, 1, "rhs_axis", target);
    const Expr& zero = call.args()[7];
    Expr sum = apply(op, {lhs, rhs});
    // Each operand contributes a zero point: a sum has it twice, a difference not at all.
    if (!is_scalar(zero, 0)) sum = apply(std::string_view(op) == "add" ? "subtract" : "add", {sum, zero});
    return narrowed(sum, tensor_of(type).dtype());
  };
}

Expr without_zero_point(const Expr& x, const Type& type, const Expr& zero, const Type& zero_type,
                        int64_t axis) {
  const Expr wide = cast_to(x, kInt32);
  return is_scalar(zero, 0) ? wide : subtract(wide, spread(zero, zero_type, tensor_of(type).rank(), axis));
}

/// Whether both operands have a scale per channel, but along different axes of the result.
bool have_other_channels(const std::vector<Type>& types, const int64_t (&axes)[2]) {
  if (tensor_of(types[2]).rank() != 1 || tensor_of(types[4]).rank() != 1) return false;
  const auto from_back = [&](size_t operand) {
    const int rank = tensor_of(types[operand]).rank();
    return rank - channel_axis(axes[operand], rank);
  };
  return from_back(0) != from_back(1);
}

Expr canonicalize_mul(const CallNode& call, const std::vector<Type>& types, const Type& type,
                      const LegalizeTarget& target) {
  const auto& args = call.args();
  const int64_t axes[] = {int_attr(call, "lhs_axis"), int_attr(call, "rhs_axis")};
  if (have_other_channels(types, axes)) {
    // No single axis has the product's scales.
    const Expr lhs = lower_dequantize(args[0], tensor_of(types[0]), pair_at(call, 2), pair_types(types, 2),
                                      axes[0]),
               rhs = lower_dequantize(args[1], tensor_of(types[1]), pair_at(call, 4), pair_types(types, 4),
                                      axes[1]);
    return lower_quantize(multiply(lhs, rhs), tensor_of(type), pair_at(call, 6), pair_types(types, 6), -1,
                          tensor_of(type).dtype());
  }
  const Expr product = multiply(without_zero_point(args[0], types[0], args[3], types[3], axes[0]),
                                without_zero_point(args[1], types[1], args[5], types[5], axes[1]));
  const auto a = constant_values(args[2]), b = constant_values(args[4]);
  const bool a_vector = tensor_of(types[2]).rank() == 1, b_vector = tensor_of(types[4]).rank() == 1;
  Expr scale;
  if (a && b) {
    std::vector<double> scales(std::max(a->size(), b->size()));
    for (size_t i = 0; i < scales.size(); ++i)
      scales[i] = static_cast<float>(a->at(a_vector ? i : 0)) * static_cast<float>(b->at(b_vector ? i : 0));
    scale = a_vector || b_vector ? constant_vector(scales, kFloat32) : Expr(scalar(scales[0], kFloat32));
  } else {
    scale = multiply(args[2], args[4]);
  }
  const auto& result = tensor_of(type);
  const int64_t axis = channel_axis(axes[a_vector ? 0 : 1], tensor_of(types[a_vector ? 0 : 1]).rank()) -
                       tensor_of(types[a_vector ? 0 : 1]).rank();
  return lower_requantize(product, *as_type<TensorTypeNode>(tensor_type(result.shape(), kInt32)),
                          {{scale, int32_scalar(0)}, pair_at(call, 6), axis, result.dtype()}, target);
}

// `op` is "add" or "subtract".
LegalizeRule quantized_sum_rule(const char* op) { return with_plain_pairs(2, {{}, {}, sum_rewrite(op)}); }

LegalizeRule quantized_mul_rule() { return with_plain_pairs(2, {{}, {}, canonicalize_mul}); }

RelationStatus quantized_binary_relation(RelationContext& ctx, const BroadcastAttrs& attrs) {
  if (!tensors_known(ctx, 0, 7)) return kDefer;
  if (!check_pair_along(ctx, 2, 0, attrs.lhs_axis) || !check_pair_along(ctx, 4, 1, attrs.rhs_axis))
    return kFailed;
  if (!check_scalar_pair(ctx, 6)) return kFailed;
  return broadcast_relation(ctx);
}

OpDef binary(const char* name, const char* doc, LegalizeRule rule) {
  OpDef def = OpSpec<BroadcastAttrs>{
      .name = name,
      .doc = doc,
      .inputs = {{"lhs", "quantised tensor"},
                 {"rhs", "quantised tensor, broadcast with lhs"},
                 {"lhs_scale", "float32 scalar, or one value per channel"},
                 {"lhs_zero_point", "int32 scalar, or one value per channel"},
                 {"rhs_scale", "float32 scalar, or one value per channel"},
                 {"rhs_zero_point", "int32 scalar, or one value per channel"},
                 {"output_scale", "float32 scalar"},
                 {"output_zero_point", "int32 scalar"},
                 {"lhs_axis", "the attribute: Relay lists it among the arguments"},
                 {"rhs_axis", "the attribute: Relay lists it among the arguments"}},
      .fuse = Fuse::kBroadcast,
      .relation = quantized_binary_relation,
      .non_computational = true,
      .rules = op_rules(std::move(rule), quantized_broadcast_layout_flow()),
  };
  def.num_inputs = 8;  // the last two are attributes
  return def;
}

}  // namespace

const OpDef& op_qnn_add() {
  static const OpDef def =
      binary("qnn.add", "lhs + rhs, broadcast, of quantised tensors.", quantized_sum_rule("add"));
  return def;
}

const OpDef& op_qnn_mul() {
  static const OpDef def =
      binary("qnn.mul", "lhs * rhs, broadcast, of quantised tensors.", quantized_mul_rule());
  return def;
}

const OpDef& op_qnn_subtract() {
  static const OpDef def =
      binary("qnn.subtract", "lhs - rhs, broadcast, of quantised tensors.", quantized_sum_rule("subtract"));
  return def;
}

}  // namespace baton
