// Normalisations by mean and variance over an axis or over groups of channels, and by length; nn.prelu, whose
// slopes are per channel too.
#include "baton/ir/build.h"
#include "baton/ir/rules/algebra.h"
#include "baton/ir/rules/inference_rule.h"
#include "baton/ir/rules/layout_flow_rules.h"
#include "baton/ops/domain.h"
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
const AttrSchema& attr_schema<PReluAttrs>() {
  static const AttrSchema schema = make_schema<PReluAttrs>(
      "relay.attrs.PReluAttrs",
      {{"axis", &PReluAttrs::axis, "the axis of alpha; negative counts from the back"}});
  return schema;
}

namespace {

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

/// (data - mean) / sqrt(variance + epsilon) * gamma + beta, where gamma and beta run along `axis`.
struct MomentsNorm {
  int axis = 0;
  std::vector<bool> reduced;  ///< the axes that a mean is taken over
  int64_t groups =
      0;  ///< not 0: `axis` is split into this many groups with separate means (and is not in `reduced`)
  double epsilon = 0;
  bool center = true, scale = true;
};

// The elements that share a mean: `rest` identifies the mean, `at` iterates over the elements. `from(i)` is
// the mean of element i.
struct MomentStages {
  MomentStages(const Tensor& data, const MomentsNorm& norm, const Axes& i) {
    const int per_group = norm.groups > 0 ? as_int(data.extent(norm.axis) / norm.groups) : 0;
    std::vector<Dim> extents;
    for (int k = 0; k < data.rank(); ++k) {
      const Dim extent = norm.reduced[k]               ? data.dim(k)
                         : k == norm.axis && per_group ? Dim(per_group)
                                                       : Dim(0);
      if (!norm.reduced[k] && !(k == norm.axis && per_group)) continue;
      extents.push_back(extent);
      count = count * extent;
    }
    const Domain r(extents);
    for (int k = 0, next = 0; k < data.rank(); ++k) {
      if (norm.reduced[k]) {
        at.push_back(r[next++]);
      } else if (k == norm.axis && per_group) {
        at.push_back(i[k] * per_group + r[next++]);
        rest.insert(rest.begin(), i[k]);
        from.insert(from.begin(), i[k] / per_group);
      } else {
        at.push_back(i[k]);
        rest.insert(rest.begin(), i[k]);
        from.insert(from.begin(), i[k]);
      }
    }
  }
  Index at, from;                 // `from` in Halide order
  std::vector<Halide::Var> rest;  // in Halide order
  Dim count = 1;
};

void moments_norm_compute(Compute& c, const MomentsNorm& norm) {
  const Tensor& data = c.in(0);
  const Axes i(data.rank());
  const MomentStages shared(data, norm, i);
  const Halide::Type type = sum_type(data.dtype());
  const Halide::Expr count = cast(type, real_of(shared.count));
  Halide::Func sum = c.stage("sum"), mean = c.stage("mean"), squares = c.stage("squares"),
               result = c.stage("norm");
  sum(shared.rest) = cast(type, 0);
  sum(shared.rest) += cast(type, data(shared.at));
  mean(shared.rest) = sum(shared.rest) / count;
  const Halide::Expr off = cast(type, data(shared.at)) - mean(shared.rest);
  squares(shared.rest) = cast(type, 0);
  squares(shared.rest) += off * off;
  const Halide::Expr variance = squares(shared.from) / count;
  Halide::Expr value = (cast(type, data(i.exprs())) - mean(shared.from)) /
                       sqrt(variance + cast(type, Halide::Expr(norm.epsilon)));
  if (norm.scale) value = value * cast(type, c.in(1)(Index{i[norm.axis]}));
  if (norm.center) value = value + cast(type, c.in(2)(Index{i[norm.axis]}));
  result(i.reversed()) = cast_to(c.out().dtype(), value);
  c.result(result);
}

// data / sqrt(max(sum of squares over `axes`, eps)).
void l2_normalize_compute(Compute& c, const std::vector<int64_t>& axes, double eps) {
  const Tensor& data = c.in(0);
  const Axes i(data.rank());
  MomentsNorm norm;
  norm.axis = -1;
  norm.reduced.assign(data.rank(), false);
  for (const int64_t axis : axes) norm.reduced[from_front(axis, data.rank())] = true;
  const MomentStages shared(data, norm, i);
  const Halide::Type type = sum_type(data.dtype());
  Halide::Func squares = c.stage("squares"), result = c.stage("l2_normalize");
  squares(shared.rest) = cast(type, 0);
  squares(shared.rest) += cast(type, data(shared.at)) * cast(type, data(shared.at));
  const Halide::Expr length = sqrt(ieee_maximum(squares(shared.from), cast(type, Halide::Expr(eps))));
  result(i.reversed()) = cast_to(c.out().dtype(), cast(type, data(i.exprs())) / length);
  c.result(result);
}

// Common to the three normalisations by mean and variance; no axis is reduced yet.
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

// ---- The same as arithmetic (InferenceRule): (x - mean(x)) / sqrt(variance(x) + epsilon) * gamma + beta

/// gamma * value + beta, as far as `norm` wants them; both are vectors along `axis`.
Expr scale_and_center(const CallNode& norm, Expr value, int rank, int axis) {
  const Expr &gamma = norm.args()[1], &beta = norm.args()[2];
  if (bool_attr(norm, "scale")) value = call_op("multiply", {value, expand_to_axis(gamma, rank, axis)});
  if (bool_attr(norm, "center")) value = call_op("add", {value, expand_to_axis(beta, rank, axis)});
  return value;
}

/// (x - mean) / sqrt(variance + epsilon), over `axes`.
Expr standardised(const Expr& x, const std::vector<int64_t>& axes, const CallNode& norm, DType dtype) {
  const NamedAttrs reduce = {{"axis", axes}, {"keepdims", true}};
  const Expr mean = call_op("mean", {x}, reduce);
  const Expr variance = call_op("variance", {x, mean}, reduce);
  const Expr denominator = call_op("add", {variance, scalar(float_attr(norm, "epsilon"), dtype)});
  const Expr difference = call_op("subtract", {x, mean});
  return call_op("divide", {difference, call_op("sqrt", {denominator})});
}

Expr layer_norm_at_inference(const CallNode& norm, const TensorTypeNode& data) {
  const int64_t axis = int_attr(norm, "axis");
  const Expr value = standardised(norm.args()[0], {axis}, norm, data.dtype());
  return scale_and_center(norm, value, data.rank(), front_axis(axis, data.rank()));
}

Expr instance_norm_at_inference(const CallNode& norm, const TensorTypeNode& data) {
  const int axis = front_axis(int_attr(norm, "axis"), data.rank());
  std::vector<int64_t> reduced;
  for (int i = 1; i < data.rank(); ++i)
    if (i != axis) reduced.push_back(i);
  const Expr value = standardised(norm.args()[0], reduced, norm, data.dtype());
  return scale_and_center(norm, value, data.rank(), axis);
}

// The groups are an axis of their own meanwhile.
Expr group_norm_at_inference(const CallNode& norm, const TensorTypeNode& data) {
  if (!data.is_static()) return nullptr;
  const int axis = front_axis(int_attr(norm, "axis"), data.rank());
  const int64_t groups = int_attr(norm, "num_groups");
  const std::vector<int64_t> shape = data.extents();
  std::vector<int64_t> grouped, reduced;
  for (int i = 0; i < data.rank(); ++i) {
    if (i == axis) grouped.push_back(groups);
    if (i >= axis) reduced.push_back(i + 1);
    grouped.push_back(i == axis ? shape[i] / groups : shape[i]);
  }
  const Expr split = call_op("reshape", {norm.args()[0]}, {{"newshape", grouped}});
  const Expr value = standardised(split, reduced, norm, data.dtype());
  const Expr joined = call_op("reshape", {value}, {{"newshape", shape}});
  return scale_and_center(norm, joined, data.rank(), axis);
}

// l2_normalize(x)  ->  x / sqrt(max(sum(x * x), eps))
Expr l2_normalize_at_inference(const CallNode& norm, const TensorTypeNode& data) {
  const Expr& x = norm.args()[0];
  const Expr square = call_op("multiply", {x, x});
  const Expr sum = call_op("sum", {square}, {{"axis", ints_attr(norm, "axis")}, {"keepdims", true}});
  const Expr bounded = call_op("maximum", {sum, scalar(float_attr(norm, "eps"), data.dtype())});
  return call_op("divide", {x, call_op("sqrt", {bounded})});
}

}  // namespace

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
      .rules = op_rules(MixedPrecision::kNever, axis_layout_flow(), InferenceRule{layer_norm_at_inference}),
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
      .rules = op_rules(axis_layout_flow(), InferenceRule{instance_norm_at_inference}),
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
      .rules = op_rules(InferenceRule{group_norm_at_inference}),
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
      .rules = op_rules(axis_layout_flow(), MixedPrecision::kNever, InferenceRule{l2_normalize_at_inference}),
      .test_shapes = {"(1, 3, 4, 4)f32, eps=1e-05, axis=[1]"},
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
      .rules = op_rules(axis_layout_flow(), MixedPrecision::kFollow, NotBroadcast{}, AlongAxis{}),
      .test_shapes = {"(2, 3)f32[-2, 2], (3)f32"},
  };
  return def;
}

}  // namespace baton
