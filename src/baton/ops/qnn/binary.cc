// Arithmetic of two quantised tensors.
#include "baton/ops/op_spec.h"
#include "baton/ops/qnn/arithmetic_rules.h"
#include "baton/ops/qnn/qnn_attrs.h"
#include "baton/ops/qnn/quant_types.h"

namespace baton {

namespace {

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
