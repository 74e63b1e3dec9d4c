#include "baton/ops/op_spec.h"
#include "baton/ops/qnn/arithmetic_rules.h"
#include "baton/ops/qnn/quant_types.h"
#include "baton/ops/tensor/tensor_relations.h"

namespace baton {

namespace {

// Whether input `arg` is a tuple of `count` scalars of that element type. `fields` are its tensors.
bool check_scalars(RelationContext& ctx, int arg, const std::vector<const TensorTypeNode*>& fields,
                   size_t count, DType dtype) {
  if (fields.size() != count) {
    fail_arg(ctx, arg,
             std::to_string(count) + " tensors are joined, so as many scalars are needed here, got " +
                 std::to_string(fields.size()));
    return false;
  }
  for (const TensorTypeNode* field : fields) {
    if (field->rank() == 0 && field->dtype() == dtype) continue;
    fail_arg(ctx, arg,
             "scalars of type " + dtype.str() + " are needed here, got " + type_text(ctx.input(arg)));
    return false;
  }
  return true;
}

RelationStatus quantized_concatenate_relation(RelationContext& ctx, const ConcatenateAttrs& attrs) {
  std::vector<const TensorTypeNode*> fields[3];  // data, scales, zero points
  bool failed = false, wait = false;
  for (int arg = 0; arg < 3; ++arg) {
    fields[arg] = tensor_fields(ctx, arg, &failed);
    if (failed) return kFailed;
    wait = wait || fields[arg].empty();
  }
  if (wait || !tensors_known(ctx, 3, 4)) return kDefer;
  if (!check_scalars(ctx, 1, fields[1], fields[0].size(), kScaleType)) return kFailed;
  if (!check_scalars(ctx, 2, fields[2], fields[0].size(), kZeroPointType)) return kFailed;
  if (!check_scalar_pair(ctx, 3)) return kFailed;
  return concatenate_relation(ctx, attrs);
}

}  // namespace

const OpDef& op_qnn_concatenate() {
  static const OpDef def = OpSpec<ConcatenateAttrs>{
      .name = "qnn.concatenate",
      .doc =
          "Quantised tensors joined along one axis, each quantised again with the scale and zero point of "
          "the result.",
      .inputs = {{"data", "tuple of tensors that are equal on all other axes"},
                 {"input_scales", "tuple of float32 scalars"},
                 {"input_zero_points", "tuple of int32 scalars"},
                 {"output_scale", "float32 scalar"},
                 {"output_zero_point", "int32 scalar"}},
      .fuse = Fuse::kInjective,
      .relation = quantized_concatenate_relation,
      .non_computational = true,
      .rules = op_rules(quantized_concatenate_rule(), quantized_concatenate_layout_flow()),
  };
  return def;
}

}  // namespace baton
