// Normalisations over an axis, over groups of channels and over neighbours; nn.prelu, whose slopes go by
// channel too.
#include "baton/ir/rules/layout_flow_rules.h"
#include "baton/ops/domain.h"
#include "baton/ops/nn/norm_compute.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"

namespace baton {

struct LayerNormAttrs {
  int64_t axis = -1;
  double epsilon = 1e-5;
  bool center = true;  ///< add beta
  bool scale = true;   ///< multiply by gamma
};

struct InstanceNormAttrs {
  int64_t axis = 1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
};

struct GroupNormAttrs {
  int64_t num_groups = 0;
  int64_t axis = 1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
};

struct L2NormalizeAttrs {
  double eps = 0;
  std::vector<int64_t> axis = {};
};

struct LRNAttrs {
  int64_t size = 5;  ///< channels in the window, odd
  int64_t axis = 1;
  double bias = 2;
  double alpha = 1e-4;
  double beta = 0.75;
};

struct PReluAttrs {
  int64_t axis = 1;
};

namespace {

template <class A>
std::vector<AttrSpec<A>> norm_fields() {
  return {{"axis", &A::axis, "the axis of gamma and beta; negative counts from the back"},
          {"epsilon", &A::epsilon, "added to the variance"},
          {"center", &A::center, "whether beta is added"},
          {"scale", &A::scale, "whether to multiply by gamma"}};
}

// The other inputs are vectors along `axis` of the data; the result is like the data.
RelationStatus vectors_relation(RelationContext& ctx, int64_t axis) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto at = checked_axis(ctx, axis, data->rank());
  if (!at) return kFailed;
  const Type vector = tensor_type(std::vector<Dim>{data->shape()[*at]}, data->dtype());
  for (size_t i = 1; i < ctx.num_inputs(); ++i)
    if (ctx.assign(i, vector) == kFailed) return kFailed;
  return ctx.assign_result(ctx.input(0));
}

RelationStatus group_relation(RelationContext& ctx, const GroupNormAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto at = checked_axis(ctx, attrs.axis, data->rank());
  if (!at || !check_least(ctx, "num_groups", {&attrs.num_groups, 1}, 1)) return kFailed;
  const Dim channels = data->shape()[*at];
  if (!channels.is_any() && channels.value() % attrs.num_groups != 0)
    return fail_attr(ctx, "num_groups", std::to_string(attrs.num_groups),
                     "it does not divide the " + std::to_string(channels.value()) + " channels");
  return vectors_relation(ctx, attrs.axis);
}

// What the three normalisations by mean and variance have in common; no axis is reduced yet.
template <class A>
MomentsNorm norm_of(const Compute& c, const A& attrs) {
  const int rank = c.in(0).rank();
  return {from_front(attrs.axis, rank),
          std::vector<bool>(rank, false),
          0,
          attrs.epsilon,
          attrs.center,
          attrs.scale};
}

}  // namespace

template <>
const AttrSchema& attr_schema<LayerNormAttrs>() {
  static const AttrSchema schema =
      make_schema<LayerNormAttrs>("relay.attrs.LayerNormAttrs", norm_fields<LayerNormAttrs>());
  return schema;
}
template <>
const AttrSchema& attr_schema<InstanceNormAttrs>() {
  static const AttrSchema schema =
      make_schema<InstanceNormAttrs>("relay.attrs.InstanceNormAttrs", norm_fields<InstanceNormAttrs>());
  return schema;
}
template <>
const AttrSchema& attr_schema<GroupNormAttrs>() {
  static const AttrSchema schema = [] {
    auto fields = norm_fields<GroupNormAttrs>();
    fields.insert(fields.begin(), {"num_groups", &GroupNormAttrs::num_groups,
                                   "the channels are split into that many groups"});
    return make_schema<GroupNormAttrs>("relay.attrs.GroupNormAttrs", std::move(fields));
  }();
  return schema;
}
template <>
const AttrSchema& attr_schema<L2NormalizeAttrs>() {
  using A = L2NormalizeAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.L2NormalizeAttrs",
                     {{"eps", &A::eps, "the smallest sum of squares to divide by", kNoDefault},
                      {"axis", &A::axis, "the axes that are summed over", kNoDefault}});
  return schema;
}
template <>
const AttrSchema& attr_schema<LRNAttrs>() {
  using A = LRNAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.LRNAttrs", {{"size", &A::size, "how many neighbours the window has; odd"},
                               {"axis", &A::axis, "the axis of the window"},
                               {"bias", &A::bias, "added to the sum of squares"},
                               {"alpha", &A::alpha, "the sum of squares is multiplied by alpha / size"},
                               {"beta", &A::beta, "the exponent"}});
  return schema;
}
template <>
const AttrSchema& attr_schema<PReluAttrs>() {
  static const AttrSchema schema = make_schema<PReluAttrs>(
      "relay.attrs.PReluAttrs",
      {{"axis", &PReluAttrs::axis, "the axis of alpha; negative counts from the back"}});
  return schema;
}

const OpDef& op_nn_layer_norm() {
  static const OpDef def = OpSpec<LayerNormAttrs>{
      .name = "nn.layer_norm",
      .doc = "(data - mean) / sqrt(variance + epsilon) * gamma + beta, with mean and variance along `axis`.",
      .inputs = {{"data", "tensor"}, {"gamma", "vector along `axis`"}, {"beta", "vector along `axis`"}},
      .relation = [](RelationContext& ctx,
                     const LayerNormAttrs& attrs) { return vectors_relation(ctx, attrs.axis); },
      .compute =
          [](Compute& c, const LayerNormAttrs& attrs) {
            MomentsNorm norm = norm_of(c, attrs);
            norm.reduced[norm.axis] = true;
            moments_norm_compute(c, norm);
          },
      .rules = op_rules(MixedPrecision::kNever, axis_layout_flow()),
      .test_shapes = {"(2, 8)f32, (8)f32[0.5, 1.5], (8)f32"},
  };
  return def;
}

const OpDef& op_nn_instance_norm() {
  static const OpDef def = OpSpec<InstanceNormAttrs>{
      .name = "nn.instance_norm",
      .doc =
          "(data - mean) / sqrt(variance + epsilon) * gamma + beta, with mean and variance of each channel "
          "of each image.",
      .inputs = {{"data", "tensor"}, {"gamma", "vector of the channels"}, {"beta", "vector of the channels"}},
      .relation = [](RelationContext& ctx,
                     const InstanceNormAttrs& attrs) { return vectors_relation(ctx, attrs.axis); },
      .compute =
          [](Compute& c, const InstanceNormAttrs& attrs) {
            MomentsNorm norm = norm_of(c, attrs);
            for (int k = 1; k < c.in(0).rank(); ++k) norm.reduced[k] = k != norm.axis;
            moments_norm_compute(c, norm);
          },
      .rules = op_rules(axis_layout_flow()),
      .test_shapes = {"(2, 3, 4)f32, (3)f32[0.5, 1.5], (3)f32"},
  };
  return def;
}

const OpDef& op_nn_group_norm() {
  static const OpDef def = OpSpec<GroupNormAttrs>{
      .name = "nn.group_norm",
      .doc =
          "(data - mean) / sqrt(variance + epsilon) * gamma + beta, with mean and variance of each group of "
          "channels of each image.",
      .inputs = {{"data", "tensor"}, {"gamma", "vector of the channels"}, {"beta", "vector of the channels"}},
      .relation = group_relation,
      .compute =
          [](Compute& c, const GroupNormAttrs& attrs) {
            MomentsNorm norm = norm_of(c, attrs);
            norm.groups = attrs.num_groups;
            for (int k = 1; k < c.in(0).rank(); ++k) norm.reduced[k] = k != norm.axis;
            moments_norm_compute(c, norm);
          },
      .python =
          "nn.group_norm(data, gamma, beta, num_groups, axis=1, epsilon=1e-05, center=True, scale=True)",
      .test_shapes = {"(2, 4, 3, 3)f32, (4)f32[0.5, 1.5], (4)f32, num_groups=2"},
  };
  return def;
}

const OpDef& op_nn_l2_normalize() {
  static const OpDef def = OpSpec<L2NormalizeAttrs>{
      .name = "nn.l2_normalize",
      .doc = "data / sqrt(max(sum of data * data along `axis`, eps)).",
      .inputs = {{"data", "tensor"}},
      .relation =
          [](RelationContext& ctx, const L2NormalizeAttrs& attrs) {
            const TensorTypeNode* data = ctx.tensor(0);
            if (!data) return kDefer;
            for (const int64_t axis : attrs.axis)
              if (!checked_axis(ctx, axis, data->rank())) return kFailed;
            return identity_relation(ctx);
          },
      .compute = [](Compute& c,
                    const L2NormalizeAttrs& attrs) { l2_normalize_compute(c, attrs.axis, attrs.eps); },
      .python = "nn.l2_normalize(data, eps, axis=None)",
      .rules = op_rules(axis_layout_flow(), MixedPrecision::kNever),
      .test_shapes = {"(1, 3, 4, 4)f32, eps=1e-05, axis=[1]"},
  };
  return def;
}

const OpDef& op_nn_lrn() {
  static const OpDef def = OpSpec<LRNAttrs>{
      .name = "nn.lrn",
      .doc = "data / (bias + alpha / size * sum of squares of the `size` neighbours along `axis`) ^ beta.",
      .inputs = {{"data", "tensor"}},
      .relation =
          [](RelationContext& ctx, const LRNAttrs& attrs) {
            const TensorTypeNode* data = ctx.tensor(0);
            if (!data) return kDefer;
            if (!checked_axis(ctx, attrs.axis, data->rank())) return kFailed;
            if (attrs.size < 1 || attrs.size % 2 == 0)
              return fail_attr(ctx, "size", std::to_string(attrs.size), "it must be positive and odd");
            return identity_relation(ctx);
          },
      .compute =
          [](Compute& c, const LRNAttrs& attrs) {
            lrn_compute(c, from_front(attrs.axis, c.in(0).rank()), attrs.size, attrs.bias, attrs.alpha,
                        attrs.beta);
          },
      .python = "nn.lrn(data, size=5, axis=1, bias=2, alpha=1e-05, beta=0.75)",
      .test_shapes = {"(1, 7, 4, 4)f32, alpha=1e-05"},
  };
  return def;
}

const OpDef& op_nn_prelu() {
  static const OpDef def = OpSpec<PReluAttrs>{
      .name = "nn.prelu",
      .doc =
          "data where it is positive, elsewhere alpha * data, with an alpha for each position along `axis`.",
      .inputs = {{"data", "tensor"}, {"alpha", "vector along `axis`"}},
      .fuse = Fuse::kBroadcast,
      .relation = [](RelationContext& ctx,
                     const PReluAttrs& attrs) { return vectors_relation(ctx, attrs.axis); },
      .compute =
          [](Compute& c, const PReluAttrs& attrs) {
            const Axes i(c.in(0).rank());
            const Halide::Expr value = c.in(0)(i.exprs()),
                               slope = c.in(1)(Index{i[static_cast<int>(attrs.axis)]});
            Halide::Func prelu = c.stage("prelu");
            prelu(i.reversed()) = select(value > cast(value.type(), 0), value, value * slope);
            c.result(prelu);
          },
      .rules = op_rules(axis_layout_flow(), MixedPrecision::kFollow),
      .test_shapes = {"(2, 3)f32[-2, 2], (3)f32"},
  };
  return def;
}

}  // namespace baton
