#include "baton/ir/rules/brief.h"
#include "baton/ir/rules/read_rule.h"
#include "baton/ops/nn/conv/conv_nd.h"
#include "baton/ops/op_spec.h"

namespace baton {

struct DeformableConv2DAttrs : Conv2DAttrs {
  int64_t deformable_groups = 1;
};

template <>
const AttrSchema& attr_schema<DeformableConv2DAttrs>() {
  using A = DeformableConv2DAttrs;
  static const AttrSchema schema = [] {
    std::vector<AttrSpec<A>> fields;
    add_window(fields);
    fields.push_back({"deformable_groups", &A::deformable_groups,
                      "channels are split into that many groups with offsets of their own"});
    add_groups(fields);
    add_kernel(fields);
    add_layouts(fields);
    return make_schema<A>("relay.attrs.DeformableConv2DAttrs", std::move(fields));
  }();
  return schema;
}

namespace {

RelationStatus deformable_relation(RelationContext& ctx, const DeformableConv2DAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto data_layout = checked_layout(ctx, "data_layout", attrs.data_layout, "NCHW");
  if (!data_layout) return kFailed;
  const auto layout = checked_layout(ctx, "kernel_layout", attrs.kernel_layout, "OIHW");
  if (!layout) return kFailed;
  const auto out_layout =
      attrs.out_layout.empty() ? data_layout : checked_layout(ctx, "out_layout", attrs.out_layout, "NCHW");
  if (!out_layout || !check_in_layout(ctx, *data, *data_layout, 0)) return kFailed;
  if (!check_lists(ctx, {{"strides", &attrs.strides}, {"dilation", &attrs.dilation}}, 2)) return kFailed;
  if (!check_least(ctx, "groups", {&attrs.groups, 1}, 1)) return kFailed;
  if (!check_least(ctx, "deformable_groups", {&attrs.deformable_groups, 1}, 1)) return kFailed;
  if (attrs.channels && !check_least(ctx, "channels", {&*attrs.channels, 1}, 1)) return kFailed;
  if (attrs.kernel_size && !check_lists(ctx, {{"kernel_size", &*attrs.kernel_size}}, 2)) return kFailed;
  const auto padding = padding_sums(ctx, attrs.padding, 2);
  if (!padding) return kFailed;

  const Layout canonical = *Layout::parse("NCHW"), kernel_canonical = *Layout::parse("OIHW");
  const std::vector<Dim> in = convert_shape(data->shape(), *data_layout, canonical);
  const TensorTypeNode* weight = ctx.tensor(2);
  if (weight && !check_in_layout(ctx, *weight, *layout, 2)) return kFailed;
  if (!weight && !(attrs.channels && attrs.kernel_size)) return kDefer;
  std::vector<Dim> known =
      weight ? convert_shape(weight->shape(), *layout, kernel_canonical) : std::vector<Dim>(4, Dim::any());
  if (attrs.channels) known[0] = *attrs.channels;
  known[1] = divided(in[1], attrs.groups);
  if (attrs.kernel_size) std::copy(attrs.kernel_size->begin(), attrs.kernel_size->end(), known.begin() + 2);
  const DType dtype = weight ? weight->dtype() : data->dtype();
  if (ctx.assign(2, tensor_type(convert_shape(known, kernel_canonical, *layout), dtype)) == kFailed)
    return kFailed;

  std::vector<Dim> shape{in[0], known[0]};
  for (int i = 0; i < 2; ++i) {
    const auto extent =
        window_positions(ctx, {in[2 + i], (*padding)[i], known[2 + i], attrs.dilation[i], attrs.strides[i]});
    if (!extent) return kFailed;
    shape.push_back(*extent);
  }
  const auto offsets = checked_product(ctx, {2, known[2], known[3], attrs.deformable_groups});
  if (!offsets) return kFailed;
  const std::vector<Dim> offset{in[0], *offsets, shape[2], shape[3]};
  if (ctx.assign(1, tensor_type(convert_shape(offset, canonical, *data_layout), data->dtype())) == kFailed)
    return kFailed;
  const DType out_dtype = attrs.out_dtype.is_void() ? data->dtype() : attrs.out_dtype;
  return ctx.assign_result(tensor_type(convert_shape(shape, canonical, *out_layout), out_dtype));
}

void deformable_conv2d_compute(Compute& c, const DeformableConv2DAttrs& attrs) {
  const Layout nchw = *Layout::parse("NCHW"), oihw = *Layout::parse("OIHW");
  const Layout data_layout = *Layout::parse(attrs.data_layout),
               kernel_layout = *Layout::parse(attrs.kernel_layout);
  const Layout out_layout = attrs.out_layout.empty() ? data_layout : *Layout::parse(attrs.out_layout);
  const Tensor &data = c.in(0), &offset = c.in(1), &weight = c.in(2);
  const std::vector<Dim> in = convert_shape(data.dims(), data_layout, nchw);
  const std::vector<int64_t> kernel = convert_shape(weight.shape(), kernel_layout, oihw);
  const int64_t in_channels = number_of(in[1], "a number for the input channels"),
                channels = number_of(convert_shape(c.out().shape(), out_layout, nchw)[1],
                                     "a number for the output channels");
  const Padding2D pad = *padding_2d(attrs.padding);
  check_groups(attrs.groups, in_channels, channels);
  check_filled_blocks(channels, kernel[0]);
  check_groups(attrs.deformable_groups, in_channels, in_channels);
  const Halide::Type type = sum_type(c.out().dtype());
  const Halide::Expr height = as_expr(in[2]), width = as_expr(in[3]);
  c.needs_elements(in[2]), c.needs_elements(in[3]);
  const int kernel_width = as_int(kernel[3]), taps = as_int(kernel[2] * kernel[3]);

  // The data under each tap of each position, interpolated between four pixels; 0 outside.
  Halide::Func moved = c.stage("sample");
  const Axes s(5, "s");  // image, channel, tap, y, x
  const Halide::Expr part = s[1] / as_int(in_channels / attrs.deformable_groups), ky = s[2] / kernel_width,
                     kx = s[2] % kernel_width;
  auto moved_by = [&](int which) {
    return cast(type, at_plain(offset, data_layout, {s[0], (part * taps + s[2]) * 2 + which, s[3], s[4]}));
  };
  const Halide::Expr y =
      cast(type, s[3] * as_int(attrs.strides[0]) - as_int(pad.top) + ky * as_int(attrs.dilation[0])) +
      moved_by(0);
  const Halide::Expr x =
      cast(type, s[4] * as_int(attrs.strides[1]) - as_int(pad.left) + kx * as_int(attrs.dilation[1])) +
      moved_by(1);
  const Halide::Expr y0 = floor(y), x0 = floor(x), dy = y - y0, dx = x - x0;
  auto pixel = [&](int down, int right) {
    const Halide::Expr at_y = cast<int>(y0) + down, at_x = cast<int>(x0) + right;
    const Halide::Expr value =
        at_plain(data, data_layout, {s[0], s[1], inside_axis(at_y, in[2]), inside_axis(at_x, in[3])});
    return select(at_y < height && at_x < width, cast(type, value), cast(type, 0));
  };
  const Halide::Expr top = pixel(0, 0) * (1 - dx) + pixel(0, 1) * dx,
                     bottom = pixel(1, 0) * (1 - dx) + pixel(1, 1) * dx;
  const Halide::Expr none = cast(type, 0);
  const Halide::Expr inside = at_most(none, y) && at_most(none, x) && y < height && x < width;
  moved(s.reversed()) = select(inside, top * (1 - dy) + bottom * dy, cast(type, 0));

  const int out_per_group = as_int(channels / attrs.groups),
            in_per_group = as_int(in_channels / attrs.groups);
  const Axes i(out_layout.rank());
  const Index to = convert_index<Halide::Expr>(i.exprs(), out_layout, nchw);
  const Domain r({in_per_group, kernel[2], kernel[3]});
  const Halide::Expr channel =
      attrs.groups == 1 ? Halide::Expr(r[0]) : to[1] / out_per_group * in_per_group + r[0];
  const Index tap = convert_index<Halide::Expr>({to[1], r[0], r[1], r[2]}, oihw, kernel_layout);
  Halide::Func sum = c.stage("deformable_conv2d"), result = c.stage("out");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) += moved(reversed(Index{to[0], channel, r[1] * kernel_width + r[2], to[2], to[3]})) *
                       cast(type, weight(tap));
  result(i.reversed()) = cast_to(c.out().dtype(), sum(i.reversed()));
  c.result(result);
}

}  // namespace

const OpDef& op_nn_deformable_conv2d() {
  static const OpDef def = OpSpec<DeformableConv2DAttrs>{
      .name = "nn.deformable_conv2d",
      .doc =
          "Convolution over height and width whose taps are moved by offsets, one pair for each tap and "
          "result position.",
      .inputs =
          {{"data", "4-D tensor in data_layout"},
           {"offset",
            "(batch, 2 * kernel height * kernel width * deformable_groups, result height, result width)"},
           {"weight", "4-D tensor in kernel_layout"}},
      .fuse = Fuse::kOutFusable,
      .relation = deformable_relation,
      .compute = deformable_conv2d_compute,
      .cost = conv_cost,
      .rules = op_rules(reads_all(), conv_brief(), conv_layout_flow(), ConvertedLayout::kConvolution),
      .test_shapes = {"(1, 2, 5, 5)f32, (1, 18, 5, 5)f32[-0.5, 0.5], (4, 2, 3, 3)f32, padding=[1, 1, 1, 1], "
                      "channels=4, kernel_size=[3, 3]"},
  };
  return def;
}

}  // namespace baton
