// Convolutions over one and three spatial axes.
#include "baton/ops/nn/conv/conv_nd_attrs.h"
#include "baton/ops/nn/conv/conv_nd_compute.h"
#include "baton/ops/nn/conv/winograd3d_compute.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/rules/scale_rules.h"
#include "baton/ops/shared/conv_attrs.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

namespace {

struct ConvFacts {
  int count = 0;  ///< spatial axes
  Layout data_layout, kernel_layout, out_layout, data_canonical, kernel_canonical;
  std::vector<Dim> data;  ///< N, C, spatial
  std::vector<int64_t> padding;
  DType out_dtype;
};

// What the attributes say and the data's shape; nothing when a mistake was reported.
template <class A>
std::optional<ConvFacts> read_conv(RelationContext& ctx, const A& attrs, int count) {
  const TensorTypeNode& data = *ctx.tensor(0);
  const std::string data_name = data_letters(count), kernel_name = std::string("OI") + spatial_letters(count);
  const auto data_layout = checked_layout(ctx, "data_layout", attrs.data_layout, data_name.c_str());
  if (!data_layout) return std::nullopt;
  const auto kernel_layout = checked_layout(ctx, "kernel_layout", attrs.kernel_layout, kernel_name.c_str());
  if (!kernel_layout) return std::nullopt;
  const auto out_layout = attrs.out_layout.empty()
                              ? data_layout
                              : checked_layout(ctx, "out_layout", attrs.out_layout, data_name.c_str());
  if (!out_layout || !check_rank(ctx, data, data_layout->rank(), 0)) return std::nullopt;
  const size_t n = static_cast<size_t>(count);
  if (!check_lists(ctx, {{"strides", &attrs.strides}, {"dilation", &attrs.dilation}}, n)) return std::nullopt;
  if (!check_least(ctx, "groups", {&attrs.groups, 1}, 1)) return std::nullopt;
  if (attrs.channels && !check_least(ctx, "channels", {&*attrs.channels, 1}, 1)) return std::nullopt;
  if (attrs.kernel_size && !check_lists(ctx, {{"kernel_size", &*attrs.kernel_size}}, n)) return std::nullopt;
  if (count == 1 && !check_count(ctx, "padding", attrs.padding, 2)) return std::nullopt;
  const auto padding = padding_sums(ctx, attrs.padding, count);
  if (!padding) return std::nullopt;
  const Layout canonical = *Layout::parse(data_name);
  return ConvFacts{count,
                   *data_layout,
                   *kernel_layout,
                   *out_layout,
                   canonical,
                   *Layout::parse(kernel_name),
                   convert_shape(data.shape(), *data_layout, canonical),
                   *padding,
                   attrs.out_dtype.is_void() ? data.dtype() : attrs.out_dtype};
}

template <class A>
RelationStatus assign_conv_result(RelationContext& ctx, const A& attrs, const ConvFacts& conv, Dim channels,
                                  const std::vector<Dim>& kernel) {
  std::vector<Dim> shape{conv.data[0], channels};
  for (int i = 0; i < conv.count; ++i) {
    const auto extent = window_positions(
        ctx, {conv.data[2 + i], conv.padding[i], kernel[i], attrs.dilation[i], attrs.strides[i]});
    if (!extent) return kFailed;
    shape.push_back(*extent);
  }
  return ctx.assign_result(
      tensor_type(convert_shape(shape, conv.data_canonical, conv.out_layout), conv.out_dtype));
}

template <class A, int kCount>
RelationStatus conv_relation(RelationContext& ctx, const A& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const std::optional<ConvFacts> conv = read_conv(ctx, attrs, kCount);
  if (!conv) return kFailed;
  const TensorTypeNode* weight = ctx.tensor(1);
  if (weight && !check_rank(ctx, *weight, conv->kernel_layout.rank(), 1)) return kFailed;
  const std::vector<Dim> known =
      weight ? convert_shape(weight->shape(), conv->kernel_layout, conv->kernel_canonical)
             : std::vector<Dim>();
  const Dim in_channels = conv->data[1], needed = divided(in_channels, attrs.groups);

  if (attrs.channels && attrs.kernel_size) {
    const std::vector<Dim> kernel(attrs.kernel_size->begin(), attrs.kernel_size->end());
    std::vector<Dim> shape{*attrs.channels, needed};
    // A depthwise weight may be written with the multiplier as its second axis.
    if (weight && attrs.groups > 1 && in_channels == Dim(attrs.groups) && known[0] == Dim(attrs.groups))
      shape = {attrs.groups, *attrs.channels / attrs.groups};
    shape.insert(shape.end(), kernel.begin(), kernel.end());
    const DType dtype = weight ? weight->dtype() : data->dtype();
    if (ctx.assign(1, tensor_type(convert_shape(shape, conv->kernel_canonical, conv->kernel_layout),
                                  dtype)) == kFailed)
      return kFailed;
    return assign_conv_result(ctx, attrs, *conv, *attrs.channels, kernel);
  }

  if (!weight) return kDefer;
  const std::vector<Dim> kernel(known.begin() + 2, known.end());
  const std::string written =
      "the weight has shape " + shape_text(weight->shape()) + " in layout " + conv->kernel_layout.str();
  if (attrs.kernel_size)
    for (int i = 0; i < kCount; ++i)
      if (!may_equal((*attrs.kernel_size)[i], kernel[i]))
        return fail_attr(ctx, "kernel_size", attr_text(AttrValue(*attrs.kernel_size)), written);
  if (attrs.channels && !may_equal(*attrs.channels, known[0]))
    return fail_attr(ctx, "channels", std::to_string(*attrs.channels), written);
  if (!may_equal(needed, known[1]))
    return fail_arg(ctx, 1,
                    std::to_string(in_channels.value()) + " input channels in " +
                        std::to_string(attrs.groups) + " groups need a weight with " +
                        std::to_string(needed.value()) + " input channels, got " + type_text(ctx.input(1)));
  return assign_conv_result(ctx, attrs, *conv, known[0], kernel);
}

RelationStatus winograd_relation(RelationContext& ctx, const Conv3DWinogradAttrs& attrs) {
  if (!ctx.tensor(0)) return kDefer;
  const std::optional<ConvFacts> conv = read_conv(ctx, attrs, 3);
  if (!conv) return kFailed;
  if (!attrs.channels)
    return fail_attr(ctx, "channels", "None", "it is needed, as the weight is transformed");
  if (!attrs.kernel_size)
    return fail_attr(ctx, "kernel_size", "None", "it is needed, as the weight is transformed");
  const std::vector<Dim> kernel(attrs.kernel_size->begin(), attrs.kernel_size->end());
  return assign_conv_result(ctx, attrs, *conv, *attrs.channels, kernel);
}

// The depth is transformed like height and width when the kernel is a cube of 3 to 7; else it stays an axis
// of its own.
RelationStatus winograd_weight_relation(RelationContext& ctx, const ConvWinogradWeightTransformAttrs& attrs) {
  const TensorTypeNode* weight = ctx.tensor(0);
  if (!weight) return kDefer;
  if (!check_rank(ctx, *weight, 5, 0)) return kFailed;
  if (!check_least(ctx, "tile_size", {&attrs.tile_size, 1}, 1)) return kFailed;
  const std::vector<Dim>& in = weight->shape();
  const bool with_depth = !in[2].is_any() && in[2] == in[3] && in[2].value() > 2 && in[2].value() < 8;
  std::vector<Dim> shape;
  for (int axis = with_depth ? 2 : 3; axis < 5; ++axis) {
    const Dim kernel = in[axis];
    const auto tile = kernel.is_any()
                          ? kernel
                          : checked_extent(ctx, static_cast<WideInt>(kernel.value()) + attrs.tile_size - 1);
    if (!tile) return kFailed;
    shape.push_back(*tile);
  }
  if (!with_depth) shape.push_back(in[2]);
  shape.push_back(in[0]);
  shape.push_back(in[1]);
  return ctx.assign_result(tensor_type(std::move(shape), weight->dtype()));
}

}  // namespace

const OpDef& op_nn_conv1d() {
  static const OpDef def = OpSpec<Conv1DAttrs>{
      .name = "nn.conv1d",
      .doc =
          "Convolution over one axis: out[n, o, x] = sum over i, dx of data[n, i, x * stride + dx * "
          "dilation] * weight[o, i, dx].",
      .inputs = {{"data", "3-D tensor in data_layout"}, {"weight", "3-D tensor in kernel_layout"}},
      .fuse = Fuse::kOutFusable,
      .relation = conv_relation<Conv1DAttrs, 1>,
      .compute = [](Compute& c, const Conv1DAttrs& attrs) { conv_nd_compute(c, conv_nd(attrs, 1)); },
      .cost = conv_cost,
      .python =
          "nn.conv1d(data, weight, strides=1, padding=0, dilation=1, groups=1, channels=None, "
          "kernel_size=None, data_layout='NCW', kernel_layout='OIW', out_layout='', out_dtype='')",
      .rules = op_rules(MixedPrecision::kAlways, conv_layout_flow(), OwnPadding::kConvolution),
      .test_shapes =
          {"(1, 3, 10)f32, (4, 3, 3)f32, dilation=[2], channels=4, kernel_size=[3]",
           "(2, 3, 10)f32, (4, 3, 3)f32, strides=[2], padding=[1, 1], channels=4, kernel_size=[3]"},
  };
  return def;
}

const OpDef& op_nn_conv3d() {
  static const OpDef def = OpSpec<Conv3DAttrs>{
      .name = "nn.conv3d",
      .doc = "Convolution over depth, height and width.",
      .inputs = {{"data", "5-D tensor in data_layout"}, {"weight", "5-D tensor in kernel_layout"}},
      .fuse = Fuse::kOutFusable,
      .relation = conv_relation<Conv3DAttrs, 3>,
      .compute = [](Compute& c, const Conv3DAttrs& attrs) { conv_nd_compute(c, conv_nd(attrs, 3)); },
      .cost = conv_cost,
      .rules = op_rules(conv_scale_rule(), MixedPrecision::kAlways, conv_layout_flow(),
                        ConvertedLayout::kConvolution, OwnPadding::kConvolution),
      .test_shapes = {"(1, 4, 4, 4, 2)f32, (2, 2, 2, 2, 3)f32, padding=[0, 0, 0, 0, 0, 0], channels=3, "
                      "kernel_size=[2, 2, 2], data_layout=NDHWC, kernel_layout=DHWIO"},
  };
  return def;
}

const OpDef& op_nn_contrib_conv3d_winograd_without_weight_transform() {
  static const OpDef def = OpSpec<Conv3DWinogradAttrs>{
      .name = "nn.contrib_conv3d_winograd_without_weight_transform",
      .doc = "nn.conv3d by Winograd's algorithm; the weight was transformed before, for the same tile_size.",
      .inputs = {{"data", "tensor in data_layout"},
                 {"weight", "result of nn.contrib_conv3d_winograd_weight_transform"}},
      .fuse = Fuse::kOutFusable,
      .relation = winograd_relation,
      .compute = conv3d_winograd_compute,
      .cost = conv_cost,
      .rules = op_rules(conv_layout_flow()),
      .test_shapes =
          {"(1, 3, 6, 6, 6)f32, (4, 4, 4, 8, 3)f32, tile_size=2, channels=8, kernel_size=[3, 3, 3]"},
  };
  return def;
}

const OpDef& op_nn_contrib_conv3d_winograd_weight_transform() {
  static const OpDef def = OpSpec<ConvWinogradWeightTransformAttrs>{
      .name = "nn.contrib_conv3d_winograd_weight_transform",
      .doc = "The weight (O, I, D, H, W) of a convolution over three axes as Winograd's algorithm wants it.",
      .inputs = {{"weight", "tensor (O, I, depth, height, width)"}},
      .fuse = Fuse::kOutFusable,
      .relation = winograd_weight_relation,
      .compute = winograd3d_weight_compute,
      .test_shapes = {"(4, 3, 3, 3, 3)f32, tile_size=2"},
  };
  return def;
}

}  // namespace baton
