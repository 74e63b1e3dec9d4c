#include "baton/ir/rules/read_rule.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/qnn/plain_pairs.h"
#include "baton/ops/qnn/quant_types.h"
#include "baton/ops/qnn/quantized_call.h"
#include "baton/ops/tensor/tensor_relations.h"

namespace baton {

namespace {

using namespace qnn;

Expr canonicalize_concatenate(const CallNode& call, const std::vector<Type>& types, const Type& type,
                              const LegalizeTarget& target) {
  const auto* data = as_type<TupleTypeNode>(types[0]);
  const DType dtype = tensor_of(type).dtype();
  const Pair to = pair_at(call, 3);
  const auto field = [](const Expr& fields, size_t i) {
    const auto* made = as<TupleNode>(fields);
    return made ? made->fields()[i] : get_item(fields, static_cast<int>(i));
  };
  std::vector<Expr> fields;
  for (size_t i = 0; i < data->fields().size(); ++i) {
    const Expr x = field(call.args()[0], i);
    const Pair from = {field(call.args()[1], i), field(call.args()[2], i)};
    fields.push_back(same_pair(from, to)
                         ? x
                         : lower_requantize(x, tensor_of(data->fields()[i]), {from, to, -1, dtype}, target));
  }
  return apply_like("concatenate", {tuple(fields)}, call);
}

LegalizeRule quantized_concatenate_rule() { return with_plain_pairs(1, {{}, {}, canonicalize_concatenate}); }

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
    if ((field->rank() == 0 || is_one_element(*field)) && field->dtype() == dtype) continue;
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
      .rules = op_rules(reads_in_parts(), quantized_concatenate_rule(), quantized_concatenate_layout_flow()),
  };
  return def;
}

}  // namespace baton
