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
      .rules = op_rules(softmax_gradient(), MixedPrecision::kNever),
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
      .rules = op_rules(log_softmax_gradient()),
  };
  return def;
}

}  // namespace baton
