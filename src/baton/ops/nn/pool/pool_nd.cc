// Pools over one and three spatial axes.
#include "baton/ir/rules/brief.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ops/domain.h"
#include "baton/ops/nn/pool/pool_window.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

namespace {

template <class A>
std::vector<AttrSpec<A>> pool_fields() {
  std::vector<AttrSpec<A>> fields = {
      {"pool_size", inherited<A>(&A::pool_size), "extents of the window", kNoDefault},
      {"strides", inherited<A>(&A::strides), "step along each spatial axis"},
      {"dilation", inherited<A>(&A::dilation), "distance of the window's cells along each spatial axis"},
      {"padding", inherited<A>(&A::padding),
       "cells around the data: one value, one per axis, or all befores and then all afters"},
      {"layout", inherited<A>(&A::layout), "layout of the data"},
      {"out_layout", inherited<A>(&A::out_layout),
       "kept for Relay's sake; the result has the layout of the data"},
      {"ceil_mode", inherited<A>(&A::ceil_mode),
       "the result's extents are rounded up: the last window may reach over the edge"}};
  if constexpr (requires(A a) { a.count_include_pad; })
    fields.push_back({"count_include_pad", &A::count_include_pad, "whether the mean counts padded cells"});
  return fields;
}

}  // namespace

template <>
const AttrSchema& attr_schema<MaxPool1DAttrs>() {
  static const AttrSchema schema =
      make_schema<MaxPool1DAttrs>("relay.attrs.MaxPool1DAttrs", pool_fields<MaxPool1DAttrs>());
  return schema;
}

template <>
const AttrSchema& attr_schema<AvgPool1DAttrs>() {
  static const AttrSchema schema =
      make_schema<AvgPool1DAttrs>("relay.attrs.AvgPool1DAttrs", pool_fields<AvgPool1DAttrs>());
  return schema;
}

template <>
const AttrSchema& attr_schema<MaxPool3DAttrs>() {
  static const AttrSchema schema =
      make_schema<MaxPool3DAttrs>("relay.attrs.MaxPool3DAttrs", pool_fields<MaxPool3DAttrs>());
  return schema;
}

template <>
const AttrSchema& attr_schema<AvgPool3DAttrs>() {
  static const AttrSchema schema =
      make_schema<AvgPool3DAttrs>("relay.attrs.AvgPool3DAttrs", pool_fields<AvgPool3DAttrs>());
  return schema;
}

namespace {

template <class A, int kCount>
RelationStatus pool_relation(RelationContext& ctx, const A& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto layout = spatial_layout(ctx, attrs.layout, kCount);
  if (!layout) return kFailed;
  if (!check_lists(
          ctx, {{"pool_size", &attrs.pool_size}, {"strides", &attrs.strides}, {"dilation", &attrs.dilation}},
          kCount))
    return kFailed;
  const auto padding = padding_sums(ctx, attrs.padding, kCount);
  if (!padding) return kFailed;
  std::vector<Dim> shape = data->shape();
  for (int i = 0; i < kCount; ++i) {
    Dim& dim = shape[layout->find(spatial_letters(kCount)[i])];
    const auto extent = window_positions(
        ctx, {dim, (*padding)[i], attrs.pool_size[i], attrs.dilation[i], attrs.strides[i], attrs.ceil_mode});
    if (!extent) return kFailed;
    dim = *extent;
  }
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

// Windows in the padding read a cell of the data, too, which does not count.
void needs_cells(Compute& c, const PoolWindow& w) {
  for (const int axis : w.axes) c.needs_elements(c.in(0).dim(axis));
}

void max_pool_compute(Compute& c, const PoolWindow& w) {
  needs_cells(c, w);
  const Axes i(c.out().rank());
  const Domain r(w.size);
  const Index at = i.exprs();
  const Cell cell = cell_of(w, c.in(0).dims(), at, r.exprs());
  const Halide::Type type = halide_type(c.out().dtype());
  Halide::Func largest = c.stage("max_pool");
  largest(i.reversed()) = first_maximum(w, c.in(0).dims(), c.out().shape(), at, type);
  largest(i.reversed()) =
      ieee_maximum(largest(i.reversed()), select(cell.inside, c.in(0)(cell.at), lowest(type)));
  c.result(copy_stage(c, largest));
}

void avg_pool_compute(Compute& c, const PoolWindow& w, bool count_include_pad) {
  needs_cells(c, w);
  const Axes i(c.out().rank());
  const Domain r(w.size);
  const Cell cell = cell_of(w, c.in(0).dims(), i.exprs(), r.exprs());
  const Halide::Type type = sum_type(c.out().dtype());
  Halide::Func sum = c.stage("sum"), pool = c.stage("avg_pool");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) += select(cell.inside, cast(type, c.in(0)(cell.at)), cast(type, 0));
  const Halide::Expr count = cell_count(w, c.in(0).dims(), i.exprs(), count_include_pad);
  pool(i.reversed()) = cast_to(c.out().dtype(), divide_toward_zero(sum(i.reversed()), cast(type, count)));
  c.result(pool);
}

}  // namespace

const OpDef& op_nn_max_pool1d() {
  static const OpDef def = OpSpec<MaxPool1DAttrs>{
      .name = "nn.max_pool1d",
      .doc = "The largest value in a window that moves over the width; cells in the padding do not count.",
      .inputs = {{"data", "tensor in `layout`"}},
      .fuse = Fuse::kOutFusable,
      .relation = pool_relation<MaxPool1DAttrs, 1>,
      .compute = [](Compute& c,
                    const MaxPool1DAttrs& attrs) { max_pool_compute(c, pool_window(attrs, "W")); },
      .cost = window_cost,
      .python =
          "nn.max_pool1d(data, pool_size=(1,), strides=(1,), dilation=(1,), padding=(0,), layout='NCW', "
          "out_layout='', ceil_mode=False)",
      .rules = op_rules(window_brief(), MixedPrecision::kFollow, spatial_layout_flow(), OwnPadding::kMaximum,
                        QuantizationRule{QuantizationRule::Does::kSelect}),
      .test_shapes = {"(1, 2, 8)f32, pool_size=[3], strides=[2], padding=[0, 0], ceil_mode=True"},
  };
  return def;
}

const OpDef& op_nn_avg_pool1d() {
  static const OpDef def = OpSpec<AvgPool1DAttrs>{
      .name = "nn.avg_pool1d",
      .doc = "The mean of a window that moves over the width.",
      .inputs = {{"data", "tensor in `layout`"}},
      .fuse = Fuse::kOutFusable,
      .relation = pool_relation<AvgPool1DAttrs, 1>,
      .compute =
          [](Compute& c, const AvgPool1DAttrs& attrs) {
            avg_pool_compute(c, pool_window(attrs, "W"), attrs.count_include_pad);
          },
      .cost = window_cost,
      .python =
          "nn.avg_pool1d(data, pool_size=(1,), strides=(1,), dilation=(1,), padding=(0,), layout='NCW', "
          "out_layout='', ceil_mode=False, count_include_pad=False)",
      .rules = op_rules(window_brief(), MixedPrecision::kFollow, spatial_layout_flow(), OwnPadding::kAverage),
      .test_shapes = {"(1, 2, 8)f32, pool_size=[3], strides=[2], padding=[0, 0], ceil_mode=True",
                      "(1, 2, 8)f32, pool_size=[3], strides=[2], padding=[1, 1], count_include_pad=True"},
  };
  return def;
}

const OpDef& op_nn_max_pool3d() {
  static const OpDef def = OpSpec<MaxPool3DAttrs>{
      .name = "nn.max_pool3d",
      .doc =
          "The largest value in a window that moves over depth, height and width; cells in the padding do "
          "not count.",
      .inputs = {{"data", "tensor in `layout`"}},
      .fuse = Fuse::kOutFusable,
      .relation = pool_relation<MaxPool3DAttrs, 3>,
      .compute = [](Compute& c,
                    const MaxPool3DAttrs& attrs) { max_pool_compute(c, pool_window(attrs, "DHW")); },
      .cost = window_cost,
      .python =
          "nn.max_pool3d(data, pool_size=(1, 1, 1), strides=(1, 1, 1), dilation=(1, 1, 1), padding=(0, 0, "
          "0), layout='NCDHW', out_layout='', ceil_mode=False)",
      .rules = op_rules(window_brief(), MixedPrecision::kFollow, spatial_layout_flow(), OwnPadding::kMaximum),
      .test_shapes =
          {"(1, 2, 4, 6, 6)f32, pool_size=[2, 2, 2], strides=[2, 2, 2], padding=[0, 0, 0, 0, 0, 0]"},
  };
  return def;
}

const OpDef& op_nn_avg_pool3d() {
  static const OpDef def = OpSpec<AvgPool3DAttrs>{
      .name = "nn.avg_pool3d",
      .doc = "The mean of a window that moves over depth, height and width.",
      .inputs = {{"data", "tensor in `layout`"}},
      .fuse = Fuse::kOutFusable,
      .relation = pool_relation<AvgPool3DAttrs, 3>,
      .compute =
          [](Compute& c, const AvgPool3DAttrs& attrs) {
            avg_pool_compute(c, pool_window(attrs, "DHW"), attrs.count_include_pad);
          },
      .cost = window_cost,
      .python =
          "nn.avg_pool3d(data, pool_size=(1, 1, 1), strides=(1, 1, 1), dilation=(1, 1, 1), padding=(0, 0, "
          "0), layout='NCDHW', out_layout='', ceil_mode=False, count_include_pad=False)",
      .rules = op_rules(window_brief(), MixedPrecision::kFollow, spatial_layout_flow(), OwnPadding::kAverage),
      .test_shapes =
          {"(1, 2, 4, 6, 6)f32, pool_size=[3, 3, 3], strides=[2, 2, 2], padding=[1, 1, 1, 1, 1, 1]"},
  };
  return def;
}

}  // namespace baton
