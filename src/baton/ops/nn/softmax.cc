#include "baton/ops/nn/softmax_compute.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_rules.h"

namespace baton {

namespace {

RelationStatus softmax_relation(RelationContext& ctx, const SoftmaxAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!checked_axis(ctx, attrs.axis, data->rank())) return kFailed;
  return ctx.assign_result(ctx.input(0));
}

}  // namespace

const OpDef& op_nn_softmax() {
  static const OpDef def = OpSpec<SoftmaxAttrs>{
      .name = "nn.softmax",
      .doc = "exp(x - m) / sum(exp(x - m)), where m = max(x); both along `axis`.",
      .inputs = {{"data", "float tensor, rank >= 1"}},
      .fuse = Fuse::kOutFusable,
      .relation = softmax_relation,
      .compute = softmax_compute,
      .rules = op_rules(softmax_gradient(), MixedPrecision::kNever, AnchorRule{"rows"},
                        FastForm{"nn.fast_softmax"}),
      .test_shapes = {"(1, 1000)f32[-8, 8]", "(2, 3, 5)f64[-8, 8], axis=1", "(7)f32", "(3, 1)f32"},
  };
  return def;
}

const OpDef& op_nn_fast_softmax() {
  static const OpDef def = OpSpec<SoftmaxAttrs>{
      .name = "nn.fast_softmax",
      .doc = "nn.softmax with an exponential that may be off by a few units in the last place.",
      .inputs = {{"data", "float tensor, rank >= 1"}},
      .fuse = Fuse::kOutFusable,
      .relation = softmax_relation,
      .compute = softmax_compute,
      .rules = op_rules(AnchorRule{"rows"}),
      .test_shapes = {"(1, 2, 5)f32[-2, 2]"},
  };
  return def;
}

const OpDef& op_nn_log_softmax() {
  static const OpDef def = OpSpec<SoftmaxAttrs>{
      .name = "nn.log_softmax",
      .doc = "x - m - log(sum(exp(x - m))), where m = max(x); both along `axis`.",
      .inputs = {{"data", "float tensor, rank >= 1"}},
      .fuse = Fuse::kOutFusable,
      .relation = softmax_relation,
      .compute = log_softmax_compute,
      .rules = op_rules(log_softmax_gradient(), AnchorRule{"rows"}),
      .test_shapes = {"(2, 7)f32[-4, 4]", "(1, 1)f32[-4, 4], axis=1"},
  };
  return def;
}

}  // namespace baton
