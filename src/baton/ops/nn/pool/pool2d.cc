// The 2-D pools: one relation each for windows and for whole planes.
#include "baton/ops/nn/pool/pool_compute.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_rules.h"
#include "baton/ops/rules/layout_rules.h"
#include "baton/ops/shared/conv_attrs.h"

namespace baton {

namespace {

// The layout, when it has H and W unsplit and the data has its rank; else nothing, reported.
std::optional<Layout> pool_layout(RelationContext& ctx, const std::string& text) {
  const auto layout = Layout::parse(text);
  if (!layout || layout->find('H') < 0 || layout->find('W') < 0 || layout->is_split('H') ||
      layout->is_split('W')) {
    fail_attr(ctx, "layout", "\"" + text + "\"", "a layout with H and W that are not split is needed");
    return std::nullopt;
  }
  if (!check_rank(ctx, *ctx.tensor(0), layout->rank(), 0)) return std::nullopt;
  return layout;
}

template <class A>
RelationStatus pool2d_relation(RelationContext& ctx, const A& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto layout = pool_layout(ctx, attrs.layout);
  if (!layout) return kFailed;
  for (const auto& [name, values] :
       {std::pair{"pool_size", &attrs.pool_size}, {"strides", &attrs.strides}, {"dilation", &attrs.dilation}})
    if (!check_count(ctx, name, *values, 2) || !check_least(ctx, name, *values, 1)) return kFailed;
  const auto padding = padding_2d(attrs.padding);
  if (!padding)
    return fail_attr(ctx, "padding", attr_text(AttrValue(attrs.padding)), "1, 2 or 4 values are needed");
  std::vector<Dim> shape = data->shape();
  const int64_t pads[2] = {padding->height(), padding->width()};
  const int at[2] = {layout->find('H'), layout->find('W')};
  for (int axis = 0; axis < 2; ++axis) {
    Dim& dim = shape[at[axis]];
    if (dim.is_any()) continue;
    const int64_t window = (attrs.pool_size[axis] - 1) * attrs.dilation[axis] + 1;
    int64_t free = dim.value() + pads[axis] - window;
    if (attrs.ceil_mode) free += attrs.strides[axis] - 1;
    if (free < 0)
      return fail_arg(ctx, 0,
                      "the window of " + std::to_string(window) + " does not fit into axis " +
                          std::to_string(at[axis]) + " of " + type_text(ctx.input(0)));
    dim = free / attrs.strides[axis] + 1;
  }
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus global_relation(RelationContext& ctx, const GlobalPool2DAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto layout = pool_layout(ctx, attrs.layout);
  if (!layout) return kFailed;
  std::vector<Dim> shape = data->shape();
  shape[layout->find('H')] = shape[layout->find('W')] = 1;
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

}  // namespace

const OpDef& op_nn_max_pool2d() {
  static const OpDef def = OpSpec<MaxPool2DAttrs>{
      .name = "nn.max_pool2d",
      .doc =
          "The largest value in a window that moves over height and width; cells in the padding do not "
          "count.",
      .inputs = {{"data", "tensor in `layout`"}},
      .fuse = Fuse::kOutFusable,
      .relation = pool2d_relation<MaxPool2DAttrs>,
      .compute = max_pool2d_compute,
      .cost = window_cost,
      .python =
          "nn.max_pool2d(data, pool_size=(1, 1), strides=(1, 1), dilation=(1, 1), padding=(0, 0), "
          "layout='NCHW', out_layout='', ceil_mode=False)",
      .rules = op_rules(spatial_layout_rule(), max_pool2d_gradient(), MixedPrecision::kFollow,
                        FakeQuantizationRule{fake_quantized_same}, spatial_layout_flow(), AnchorRule{"pool"},
                        ConvertedLayout::kWindows, OwnPadding::kMaximum),
      .test_shapes = {"(1, 1, 1, 1)f32, pool_size=[1, 1], padding=[0, 0, 0, 0]",
                      "(1, 2, 8, 8)f32, pool_size=[3, 2], strides=[1, 2], padding=[0, 1, 1, 0]"},
  };
  return def;
}

const OpDef& op_nn_avg_pool2d() {
  static const OpDef def = OpSpec<AvgPool2DAttrs>{
      .name = "nn.avg_pool2d",
      .doc = "The mean of a window that moves over height and width.",
      .inputs = {{"data", "tensor in `layout`"}},
      .fuse = Fuse::kOutFusable,
      .relation = pool2d_relation<AvgPool2DAttrs>,
      .compute = avg_pool2d_compute,
      .cost = window_cost,
      .python =
          "nn.avg_pool2d(data, pool_size=(1, 1), strides=(1, 1), dilation=(1, 1), padding=(0, 0), "
          "layout='NCHW', out_layout='', ceil_mode=False, count_include_pad=False)",
      .rules = op_rules(spatial_layout_rule(), avg_pool2d_gradient(), MixedPrecision::kFollow,
                        FakeQuantizationRule{fake_quantized_through_int32}, spatial_layout_flow(),
                        AnchorRule{"pool"}, ConvertedLayout::kWindows, OwnPadding::kAverage),
      .test_shapes = {"(1, 2, 8, 8)f32, pool_size=[3, 2], strides=[1, 2], padding=[0, 1, 1, 0]",
                      "(1, 8, 8, 3)f32, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0], layout=NHWC, "
                      "count_include_pad=True"},
  };
  return def;
}

const OpDef& op_nn_global_avg_pool2d() {
  static const OpDef def = OpSpec<GlobalPool2DAttrs>{
      .name = "nn.global_avg_pool2d",
      .doc = "The mean over height and width, which become 1.",
      .inputs = {{"data", "tensor in `layout`"}},
      .fuse = Fuse::kOutFusable,
      .relation = global_relation,
      .compute = global_avg_pool2d_compute,
      .rules = op_rules(spatial_layout_rule(), global_avg_pool2d_gradient(), MixedPrecision::kNever,
                        FakeQuantizationRule{fake_quantized_through_int32}, spatial_layout_flow(),
                        AnchorRule{"pool"}, ConvertedLayout::kWindows),
      .test_shapes = {"(1, 3, 5, 5)f32", "(2, 7, 1, 3)f32, layout=NHWC"},
  };
  return def;
}

const OpDef& op_nn_global_max_pool2d() {
  static const OpDef def = OpSpec<GlobalPool2DAttrs>{
      .name = "nn.global_max_pool2d",
      .doc = "The largest value over height and width, which become 1.",
      .inputs = {{"data", "tensor in `layout`"}},
      .fuse = Fuse::kOutFusable,
      .relation = global_relation,
      .compute = global_max_pool2d_compute,
      .rules = op_rules(spatial_layout_rule(), MixedPrecision::kFollow, spatial_layout_flow(),
                        AnchorRule{"pool"}, ConvertedLayout::kWindows),
      .test_shapes = {"(1, 3, 5, 5)f32", "(2, 7, 1, 3)f32, layout=NHWC"},
  };
  return def;
}

}  // namespace baton
