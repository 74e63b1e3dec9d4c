#include "baton/ops/nn/conv/conv2d.h"

#include "baton/ir/layout.h"
#include "baton/ir/rules/brief.h"
#include "baton/ir/rules/layer_kind.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/nn/conv/conv_by_positions.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/rules/int8_rules.h"
#include "baton/ops/rules/scale_rules.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

namespace {

// Shared by both relations: the data as N, C, H, W and all attributes.
struct Conv2DFacts {
  Layout data_layout, kernel_layout, out_layout;
  std::vector<Dim> data;  // N, C, H, W
  Padding2D padding;
  DType out_dtype;
};

// Nullopt after a report. The data's type is known.
std::optional<Conv2DFacts> read_conv2d(RelationContext& ctx, const Conv2DAttrs& attrs) {
  const TensorTypeNode& data = *ctx.tensor(0);
  const bool grouped = attrs.kernel_layout.find('G') != std::string::npos;
  const auto data_layout = checked_layout(ctx, "data_layout", attrs.data_layout, "NCHW");
  if (!data_layout) return std::nullopt;
  const auto kernel_layout =
      checked_layout(ctx, "kernel_layout", attrs.kernel_layout, grouped ? "GOIHW" : "OIHW");
  if (!kernel_layout) return std::nullopt;
  const auto out_layout =
      attrs.out_layout.empty() ? data_layout : checked_layout(ctx, "out_layout", attrs.out_layout, "NCHW");
  if (!out_layout || !check_in_layout(ctx, data, *data_layout, 0)) return std::nullopt;
  if (!check_count(ctx, "strides", attrs.strides, 2) || !check_least(ctx, "strides", attrs.strides, 1))
    return std::nullopt;
  if (!check_count(ctx, "dilation", attrs.dilation, 2) || !check_least(ctx, "dilation", attrs.dilation, 1))
    return std::nullopt;
  if (!check_least(ctx, "groups", {&attrs.groups, 1}, 1)) return std::nullopt;
  if (attrs.kernel_size && (!check_count(ctx, "kernel_size", *attrs.kernel_size, 2) ||
                            !check_least(ctx, "kernel_size", *attrs.kernel_size, 1)))
    return std::nullopt;
  const auto padding = padding_2d(attrs.padding);
  if (!padding) {
    fail_attr(ctx, "padding", attr_text(AttrValue(attrs.padding)), "1, 2 or 4 values are needed");
    return std::nullopt;
  }
  DType out_dtype = attrs.out_dtype.is_void() ? data.dtype() : attrs.out_dtype;
  if (const TensorTypeNode* weight = ctx.tensor(1); weight && out_dtype.is_void())
    out_dtype = weight->dtype();
  return Conv2DFacts{*data_layout, *kernel_layout,
                     *out_layout,  convert_shape(data.shape(), *data_layout, *Layout::parse("NCHW")),
                     *padding,     out_dtype};
}

Dim out_extent(Dim in, int64_t padding, Dim kernel, int64_t dilation, int64_t stride) {
  if (in.is_any() || kernel.is_any())
    return floor_div(in + padding - ((kernel - 1) * dilation + 1), stride) + 1;
  // Rounded down, also when the window is larger than the padded data: the result is then empty or rejected
  // below.
  const int64_t free = in.value() + padding - ((kernel.value() - 1) * dilation + 1);
  return free < 0 ? 0 : free / stride + 1;
}

RelationStatus assign_conv2d_result(RelationContext& ctx, const Conv2DAttrs& attrs, const Conv2DFacts& conv,
                                    Dim channels, Dim kernel_h, Dim kernel_w) {
  const Dim height =
      out_extent(conv.data[2], conv.padding.height(), kernel_h, attrs.dilation[0], attrs.strides[0]);
  const Dim width =
      out_extent(conv.data[3], conv.padding.width(), kernel_w, attrs.dilation[1], attrs.strides[1]);
  if (height == Dim(0) || width == Dim(0))
    return fail_arg(ctx, 0,
                    "the window of " + extent_text(kernel_h) + " x " + extent_text(kernel_w) +
                        " does not fit into data of shape " + shape_text(ctx.tensor(0)->shape()));
  const std::vector<Dim> nchw{conv.data[0], channels, height, width};
  return ctx.assign_result(
      tensor_type(convert_shape(nchw, *Layout::parse("NCHW"), conv.out_layout), conv.out_dtype));
}

}  // namespace

RelationStatus conv2d_relation(RelationContext& ctx, const Conv2DAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const std::optional<Conv2DFacts> conv = read_conv2d(ctx, attrs);
  if (!conv) return kFailed;
  const Layout& layout = conv->kernel_layout;
  const bool grouped = layout.find('G') >= 0;
  const Layout canonical = *Layout::parse(grouped ? "GOIHW" : "OIHW");
  const size_t o = grouped ? 1 : 0;
  const Dim in_channels = conv->data[1];
  const int64_t groups = attrs.groups;

  const TensorTypeNode* weight = ctx.tensor(1);
  if (weight && !check_in_layout(ctx, *weight, layout, 1)) return kFailed;
  const std::vector<Dim> known =
      weight ? convert_shape(weight->shape(), layout, canonical) : std::vector<Dim>();

  if (attrs.kernel_size && attrs.channels) {
    if (!weight && groups > 1) return kDefer;  // O of the weight determines whether it is depthwise
    const Dim kernel_h = (*attrs.kernel_size)[0], kernel_w = (*attrs.kernel_size)[1];
    std::vector<Dim> shape;
    if (grouped) {
      shape = {groups, *attrs.channels / groups, divided(in_channels, groups), kernel_h, kernel_w};
    } else if (groups > 1 && in_channels == Dim(groups) && known[0] == Dim(groups)) {
      shape = {groups, *attrs.channels / groups, kernel_h, kernel_w};
    } else {
      shape = {*attrs.channels, divided(in_channels, groups), kernel_h, kernel_w};
    }
    const DType dtype = weight ? weight->dtype() : data->dtype();
    if (ctx.assign(1, tensor_type(convert_shape(shape, canonical, layout), dtype)) == kFailed) return kFailed;
    return assign_conv2d_result(ctx, attrs, *conv, *attrs.channels, kernel_h, kernel_w);
  }

  if (!weight) return kDefer;
  const Dim kernel_h = known[o + 2], kernel_w = known[o + 3];
  const Dim out_channels = grouped ? times(known[0], known[1]) : known[0];
  if (attrs.kernel_size &&
      (!may_equal((*attrs.kernel_size)[0], kernel_h) || !may_equal((*attrs.kernel_size)[1], kernel_w)))
    return fail_attr(ctx, "kernel_size", attr_text(AttrValue(*attrs.kernel_size)),
                     "the weight has shape " + shape_text(weight->shape()) + " in layout " + layout.str());
  if (attrs.channels && !may_equal(*attrs.channels, out_channels))
    return fail_attr(ctx, "channels", std::to_string(*attrs.channels),
                     "the weight has shape " + shape_text(weight->shape()) + " in layout " + layout.str());
  const Dim needed = divided(in_channels, groups);
  if (!needed.is_any() && !known[o + 1].is_any() && known[o + 1] != needed)
    return fail_arg(ctx, 1,
                    extent_text(in_channels) + " input channels in " + std::to_string(groups) +
                        " groups need a weight with " + extent_text(needed) + " input channels, got " +
                        type_text(ctx.input(1)));
  return assign_conv2d_result(ctx, attrs, *conv, out_channels, kernel_h, kernel_w);
}

RelationStatus packed_conv2d_relation(RelationContext& ctx, const Conv2DAttrs& attrs) {
  if (!ctx.tensor(0)) return kDefer;
  const std::optional<Conv2DFacts> conv = read_conv2d(ctx, attrs);
  if (!conv) return kFailed;
  if (!attrs.channels) return fail_attr(ctx, "channels", "None", "it is needed, as the weight is packed");
  if (!attrs.kernel_size)
    return fail_attr(ctx, "kernel_size", "None", "it is needed, as the weight is packed");
  return assign_conv2d_result(ctx, attrs, *conv, *attrs.channels, (*attrs.kernel_size)[0],
                              (*attrs.kernel_size)[1]);
}

void conv2d_compute(Compute& c, const Conv2DAttrs& attrs) {
  if (attrs.kernel_layout.find('G') == std::string::npos && conv_by_positions(c, conv_nd(attrs, 2))) return;
  const bool grouped = attrs.kernel_layout.find('G') != std::string::npos;
  const Layout nchw = *Layout::parse("NCHW"), oihw = *Layout::parse(grouped ? "GOIHW" : "OIHW");
  const Layout data_layout = *Layout::parse(attrs.data_layout),
               kernel_layout = *Layout::parse(attrs.kernel_layout);
  const Layout out_layout = attrs.out_layout.empty() ? data_layout : *Layout::parse(attrs.out_layout);
  const Tensor &data = c.in(0), &weight = c.in(1);
  const std::vector<Dim> in = convert_shape(data.dims(), data_layout, nchw);
  const std::vector<int64_t> kernel = convert_shape(weight.shape(), kernel_layout, oihw);
  const int64_t in_channels = number_of(in[1], "a number for the input channels"),
                channels = number_of(convert_shape(c.out().shape(), out_layout, nchw)[1],
                                     "a number for the output channels");
  const Padding2D pad = *padding_2d(attrs.padding);
  const Halide::Type type = halide_type(c.out().dtype());
  const size_t o = grouped ? 1 : 0;
  check_groups(attrs.groups, in_channels, channels);

  auto at = [&](Halide::Expr n, Halide::Expr channel, Halide::Expr y, Halide::Expr x) {
    return cast(type, data(convert_index<Halide::Expr>({n, channel, y, x}, nchw, data_layout)));
  };
  Halide::Func padded;
  if (pad.top != 0 || pad.left != 0 || pad.bottom != 0 || pad.right != 0) {
    padded = c.stage("pad");
    const Axes j(4, "p");
    const Halide::Expr y = j[2] - as_int(pad.top), x = j[3] - as_int(pad.left);
    const Halide::Expr height = as_expr(in[2]), width = as_expr(in[3]);
    c.needs_elements(in[2]), c.needs_elements(in[3]);
    padded(j.reversed()) =
        select(y >= 0 && y < height && x >= 0 && x < width,
               at(j[0], j[1], clamp(y, 0, height - 1), clamp(x, 0, width - 1)), cast(type, 0));
  }

  // Depthwise with a multiplier and plain groups alike: a result channel belongs to group c / (channels /
  // groups).
  const int out_per_group = as_int(channels / attrs.groups),
            in_per_group = as_int(in_channels / attrs.groups);
  Halide::Func conv = c.stage("conv2d");
  const Axes i(out_layout.rank());
  const Halide::RDom r(0, as_int(kernel[o + 3]), 0, as_int(kernel[o + 2]), 0, in_per_group, "r");
  const Index to = convert_index<Halide::Expr>(i.exprs(), out_layout, nchw);
  const Halide::Expr group = attrs.groups == 1 ? Halide::Expr(0) : to[1] / out_per_group;
  const Halide::Expr channel = group * in_per_group + r.z;
  const Halide::Expr y = to[2] * as_int(attrs.strides[0]) + r.y * as_int(attrs.dilation[0]);
  const Halide::Expr x = to[3] * as_int(attrs.strides[1]) + r.x * as_int(attrs.dilation[1]);
  // Relay's depthwise weight may be stored (groups, multiplier, h, w): then `O` is the group and `I` the
  // multiplier.
  const bool by_group = !grouped && attrs.groups > 1 && kernel[0] == attrs.groups && kernel[0] != channels;
  check_filled_blocks(channels, grouped || by_group ? kernel[0] * kernel[1] : kernel[0]);
  Index tap;
  if (grouped)
    tap = {group, to[1] % out_per_group, r.z, r.y, r.x};
  else if (by_group)
    tap = {group, to[1] % out_per_group, r.y, r.x};
  else
    tap = {to[1], r.z, r.y, r.x};
  const Halide::Expr value = padded.defined() ? padded(x, y, channel, to[0]) : at(to[0], channel, y, x);
  conv(i.reversed()) = cast(type, 0);
  conv(i.reversed()) += value * cast(type, weight(convert_index<Halide::Expr>(tap, oihw, kernel_layout)));
  c.result(copy_stage(c, conv));
}

bool has_one_tap(const Conv2DAttrs& attrs) {
  const Padding2D pad = *padding_2d(attrs.padding);
  return attrs.kernel_size == std::vector<int64_t>{1, 1} && pad.top == 0 && pad.left == 0 &&
         pad.bottom == 0 && pad.right == 0;
}

namespace {

// For float32 only: other types are not vectorised along a row. With strides where the data are summed by
// positions.
std::optional<AxisRange> rows_of_pixels(const CallNode& call) {
  const auto& attrs = attrs_as<Conv2DAttrs>(call.attrs());
  const auto* result = as_type<TensorTypeNode>(call.checked_type());
  if (!result || !result->is_known() || result->dtype() != DType::float_(32) || attrs.data_layout != "NCHW" ||
      !(attrs.out_layout.empty() || attrs.out_layout == "NCHW") || !has_one_tap(attrs))
    return std::nullopt;
  // With strides, only static ones: their rows are divided by a number.
  const TensorTypeNode *data = static_type_of(call.args()[0]), *weight = static_type_of(call.args()[1]);
  const bool applies =
      attrs.strides == std::vector<int64_t>{1, 1} ||
      (data && weight && result->is_static() && attrs.kernel_layout.find('G') == std::string::npos &&
       sums_by_positions(conv_nd(attrs, 2), *data, *weight, *result));
  return applies ? std::optional(kPixelAxes) : std::nullopt;
}

// The data's adjoint is a transposed convolution of g with the weight; the weight's is a sum over all
// positions.
GradientRule conv2d_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const auto& attrs = attrs_as<Conv2DAttrs>(call->attrs());
    if (attrs.data_layout != "NCHW" || attrs.kernel_layout != "OIHW" ||
        !(attrs.out_layout.empty() || attrs.out_layout == "NCHW"))
      refuse(*call, "is provided for the layouts NCHW and OIHW, got " + attrs.data_layout + " and " +
                        attrs.kernel_layout);
    const Expr &data = call->args()[0], &weight = call->args()[1];
    const TensorTypeNode &in = tensor_arg(*call, 0), *out = tensor_type_of(Expr(call));
    const std::vector<int64_t> kernel = static_arg(*call, 1);
    const Padding2D padding = *padding_2d(attrs.padding);
    const int64_t pads[2] = {padding.height(), padding.width()};
    std::vector<int64_t> rest(2);  // trailing elements not covered by a window
    for (int i = 0; i < 2; ++i) {
      if (in.shape()[2 + i].is_any())
        refuse(*call, "needs to know height and width, got " + type_text(data->checked_type()));
      const int64_t reached = (out->shape()[2 + i].value() - 1) * attrs.strides[i] - pads[i] +
                              (kernel[2 + i] - 1) * attrs.dilation[i] + 1;
      rest[i] = in.shape()[2 + i].value() - reached;
    }
    std::vector<std::pair<std::string, AttrValue>> turned{{"strides", AttrValue(attrs.strides)},
                                                          {"padding", AttrValue(attrs.padding)},
                                                          {"dilation", AttrValue(attrs.dilation)},
                                                          {"groups", attrs.groups},
                                                          {"kernel_layout", "IOHW"},
                                                          {"output_padding", AttrValue(rest)},
                                                          {"out_dtype", out->dtype()}};
    if (attrs.groups != 1) {
      // The number of groups cannot be determined from the weight.
      turned.emplace_back("channels", kernel[1] * attrs.groups);
      turned.emplace_back("kernel_size", AttrValue(std::vector<int64_t>{kernel[2], kernel[3]}));
    }
    const Expr for_data = op("nn.conv2d_transpose", {g, weight}, turned);
    // Here the layouts are those of g, the data and the result.
    const Expr for_weight = op("nn.conv2d_backward_weight", {g, data},
                               {{"strides", AttrValue(attrs.strides)},
                                {"padding", AttrValue(attrs.padding)},
                                {"dilation", AttrValue(attrs.dilation)},
                                {"groups", attrs.groups},
                                {"channels", kernel[0]},
                                {"kernel_size", AttrValue(std::vector<int64_t>{kernel[2], kernel[3]})},
                                {"data_layout", "NCHW"},
                                {"kernel_layout", "NCHW"},
                                {"out_layout", "OIHW"},
                                {"out_dtype", out->dtype()}});
    return Adjoints{for_data, for_weight};
  }};
}

}  // namespace

const OpDef& op_nn_conv2d() {
  static const OpDef def = OpSpec<Conv2DAttrs>{
      .name = "nn.conv2d",
      .doc =
          "Convolution over height and width: out[n, o, y, x] = sum over i, dy, dx of data[n, i, y * stride "
          "+ dy * "
          "dilation, x * stride + dx * dilation] * weight[o, i, dy, dx], zeros outside the data.",
      .inputs = {{"data", "4-D tensor in data_layout, or packed"},
                 {"weight", "4-D tensor in kernel_layout, or packed"}},
      .fuse = Fuse::kOutFusable,
      .relation = conv2d_relation,
      .compute = conv2d_compute,
      .cost = conv_cost,
      .rules = op_rules(conv_brief(), conv_scale_rule(), conv2d_gradient(), int8_conv2d_rule(),
                        MixedPrecision::kAlways, FakeQuantizationRule{fake_quantized_conv2d},
                        conv_layout_flow(), conv_macs(), AnchorRule{"conv_plain"},
                        JoinableAxes{rows_of_pixels}, ConvertedLayout::kConvolution, OwnPadding::kConvolution,
                        QuantizationRule{QuantizationRule::Does::kLayer, QuantizationRule::Kernel::kBegins},
                        LayerKind::kConvolution2D),
      .test_shapes =
          {"(1, 3, 8, 8)f32, (4, 3, 3, 3)f32, padding=[0, 1, 2, 1], channels=4, kernel_size=[3, 3]",
           "(1, 4, 5, 5)f32, (8, 1, 3, 3)f32, strides=[2, 2], groups=4, channels=8, kernel_size=[3, 3]",
           "(2, 7, 6, 3)f32, (1, 1, 3, 5)f32, channels=5, kernel_size=[1, 1], data_layout=NHWC, "
           "kernel_layout=HWIO",
           "(1, 3, 8, 8)f32, (4, 3, 3, 3)f32, dilation=[2, 2], channels=4, kernel_size=[3, 3]",
           "(1, 2, 4, 4)i8[-9, 9], (3, 2, 1, 1)i8[-9, 9], channels=3, kernel_size=[1, 1], out_dtype=int32"},
  };
  return def;
}

}  // namespace baton
