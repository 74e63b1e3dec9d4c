#include "baton/ir/origin_scope.h"
#include "baton/ir/rules/inference_rule.h"
#include "baton/ir/rules/layout_flow_rules.h"
#include "baton/ops/op_spec.h"

namespace baton {

struct DropoutAttrs {
  double rate = 0.5;
};

template <>
const AttrSchema& attr_schema<DropoutAttrs>() {
  static const AttrSchema schema = make_schema<DropoutAttrs>(
      "relay.attrs.DropoutAttrs",
      {{"rate", &DropoutAttrs::rate, "the probability that an element is dropped in training"}});
  return schema;
}

namespace {

// dropout(x).0  ->  x
Expr dropout_at_inference(const CallNode& dropout, const TensorTypeNode&) {
  retire(dropout.origins(), "dropout is the identity at inference");
  return dropout.args()[0];
}

}  // namespace

// No compute: SimplifyInference replaces it by its data.
const OpDef& op_nn_dropout() {
  static const OpDef def = OpSpec<DropoutAttrs>{
      .name = "nn.dropout",
      .doc =
          "Drops elements in training; the identity at inference. The result is a tuple of the data and the "
          "mask.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kOpaque,
      .relation =
          [](RelationContext& ctx, const DropoutAttrs&) {
            if (!ctx.tensor(0)) return kDefer;
            return ctx.assign_result(tuple_type({ctx.input(0), ctx.input(0)}));
          },
      .stateful = true,
      .rules = op_rules(same_layout_flow(), MixedPrecision::kFollow, ResultCount{2},
                        InferenceRule{dropout_at_inference, InferenceRule::Replaces::kFirstOfTuple}),
  };
  return def;
}

}  // namespace baton
