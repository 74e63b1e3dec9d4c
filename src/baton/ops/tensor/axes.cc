// Operators that add, drop and reorder axes.

#include "baton/ir/rules/layout_flow_rules.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/rules/layout_rules.h"
#include "baton/ops/shared/reindex.h"
#include "baton/ops/tensor/tensor_attrs.h"

namespace baton {

struct ExpandDimsAttrs {
  int64_t axis = 0;
  int64_t num_newaxis = 1;
};

struct TransposeAttrs {
  std::optional<Ints> axes = {};  ///< None: reversed
};

template <>
const AttrSchema& attr_schema<ExpandDimsAttrs>() {
  using A = ExpandDimsAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ExpandDimsAttrs",
      {{"axis", &A::axis, "where the new axes go; negative counts from the back of the result", kNoDefault},
       {"num_newaxis", &A::num_newaxis, "how many"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<SqueezeAttrs>() {
  using A = SqueezeAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.SqueezeAttrs", {{"axis", &A::axis, "the axes to remove; None: every one of extent 1"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<TransposeAttrs>() {
  using A = TransposeAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.TransposeAttrs",
                     {{"axes", &A::axes,
                       "the axis of the data that each axis of the result is; None: reversed", kNoDefault}});
  return schema;
}

namespace {

RelationStatus expand_relation(RelationContext& ctx, const ExpandDimsAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const int64_t rank = data->rank();
  if (attrs.axis < -rank - 1 || attrs.axis > rank)
    return fail_attr(ctx, "axis", std::to_string(attrs.axis),
                     "it must lie in " + std::to_string(-rank - 1) + ".." + std::to_string(rank) + " for " +
                         type_text(ctx.input(0)));
  if (!check_least(ctx, "num_newaxis", {&attrs.num_newaxis, 1}, 0)) return kFailed;
  constexpr int64_t kMostNewAxes = 1 << 16;
  if (attrs.num_newaxis > kMostNewAxes)
    return fail_attr(ctx, "num_newaxis", std::to_string(attrs.num_newaxis),
                     "it must be at most " + std::to_string(kMostNewAxes));
  std::vector<Dim> shape = data->shape();
  const int64_t at = attrs.axis < 0 ? attrs.axis + rank + 1 : attrs.axis;
  shape.insert(shape.begin() + at, static_cast<size_t>(attrs.num_newaxis), Dim(1));
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus squeeze_relation(RelationContext& ctx, const SqueezeAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  std::vector<bool> dropped(data->rank(), false);
  if (attrs.axis) {
    for (const int64_t named : *attrs.axis) {
      const auto axis = checked_axis(ctx, named, data->rank());
      if (!axis) return kFailed;
      const Dim dim = data->shape()[*axis];
      if (!dim.is_any() && dim != Dim(1))
        return fail_attr(ctx, "axis", std::to_string(named),
                         "that axis of " + type_text(ctx.input(0)) + " is not 1");
      dropped[*axis] = true;
    }
  } else {
    for (int axis = 0; axis < data->rank(); ++axis) {
      if (data->shape()[axis].is_any())
        return fail_attr(ctx, "axis", "None",
                         "the axes to remove must be named for " + type_text(ctx.input(0)));
      dropped[axis] = data->shape()[axis] == Dim(1);
    }
  }
  std::vector<Dim> shape;
  for (int axis = 0; axis < data->rank(); ++axis)
    if (!dropped[axis]) shape.push_back(data->shape()[axis]);
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus transpose_relation(RelationContext& ctx, const TransposeAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  std::vector<Dim> shape;
  if (!attrs.axes) {
    shape.assign(data->shape().rbegin(), data->shape().rend());
  } else {
    if (!check_count(ctx, "axes", *attrs.axes, data->rank())) return kFailed;
    std::vector<bool> used(data->rank(), false);
    for (const int64_t named : *attrs.axes) {
      const auto axis = checked_axis(ctx, named, data->rank());
      if (!axis) return kFailed;
      if (used[*axis])
        return fail_attr(ctx, "axes", attr_text(AttrValue(*attrs.axes)),
                         "axis " + std::to_string(*axis) + " is named twice");
      used[*axis] = true;
      shape.push_back(data->shape()[*axis]);
    }
  }
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

void transpose_compute(Compute& c, const TransposeAttrs& attrs) {
  reindex_compute(c, "transpose", [&](const Index& i) {
    Index from(i.size());
    for (size_t k = 0; k < i.size(); ++k) {
      const int64_t axis = attrs.axes ? (*attrs.axes)[k] : static_cast<int64_t>(i.size() - 1 - k);
      from[axis < 0 ? axis + i.size() : axis] = i[k];
    }
    return from;
  });
}

GradientRule expand_dims_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    Expr data = g;
    for (int64_t i = 0; i < int_attr(*call, "num_newaxis"); ++i)
      data = op("squeeze", {data}, {{"axis", AttrValue(std::vector<int64_t>{int_attr(*call, "axis")})}});
    return Adjoints{data};
  }};
}

GradientRule transpose_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const std::vector<int64_t> axes = ints_attr(*call, "axes");
    if (axes.empty()) return Adjoints{op("transpose", {g})};
    std::vector<int64_t> back(axes.size());
    for (size_t i = 0; i < axes.size(); ++i)
      back[front_axis(axes[i], static_cast<int>(axes.size()))] = static_cast<int64_t>(i);
    return Adjoints{op("transpose", {g}, {{"axes", AttrValue(back)}})};
  }};
}

}  // namespace

const OpDef& op_expand_dims() {
  static const OpDef def = OpSpec<ExpandDimsAttrs>{
      .name = "expand_dims",
      .doc = "New axes of extent 1.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kBroadcast,
      .relation = expand_relation,
      .compute = [](Compute& c, const ExpandDimsAttrs&) { reshape_compute(c, "expand_dims"); },
      .reshape_only = true,
      .rules = op_rules(expand_dims_gradient(), MixedPrecision::kFollow,
                        FakeQuantizationRule{fake_quantized_expand_dims}),
      .test_shapes = {"(3)f32, axis=0", "(2)f32, axis=0, num_newaxis=0"},
  };
  return def;
}

const OpDef& op_squeeze() {
  static const OpDef def = OpSpec<SqueezeAttrs>{
      .name = "squeeze",
      .doc = "Axes of extent 1 are removed.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kInjective,
      .relation = squeeze_relation,
      .compute = [](Compute& c, const SqueezeAttrs&) { reshape_compute(c, "squeeze"); },
      .reshape_only = true,
      .rules =
          op_rules(reshape_gradient(), MixedPrecision::kFollow, FakeQuantizationRule{fake_quantized_reshape},
                   squeeze_layout_flow(), flow_layout_rule()),
      .test_shapes = {"(1, 2, 1)f32", "(1, 3, 1, 1)f32, axis=[0, 2]"},
  };
  return def;
}

const OpDef& op_transpose() {
  static const OpDef def = OpSpec<TransposeAttrs>{
      .name = "transpose",
      .doc = "The axes in another order.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kInjective,
      .relation = transpose_relation,
      .compute = transpose_compute,
      .python = "transform.transpose(data, axes=None)",
      .rules = op_rules(transpose_gradient(), transpose_layout_flow(), MixedPrecision::kFollow,
                        FakeQuantizationRule{fake_quantized_transpose},
                        QuantizationRule{QuantizationRule::Does::kSame}),
      .test_shapes = {"(2, 3, 4)f32, axes=[1, 0, 2]", "(5, 1)f32, axes=None", "(2, 0, 3)f32, axes=[2, 1, 0]"},
  };
  return def;
}

}  // namespace baton
