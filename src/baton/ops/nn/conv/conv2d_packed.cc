// The 2-D convolutions on packed layouts, in the form that the schedule templates know: the reduction runs
// over (block of input channels, kernel row, kernel column, channel in the block), innermost last. For
// integers the channels of a block lie in pairs or fours (OIHW8i16o2i), whose products one instruction sums:
// an axis of the reduction of its own, innermost. In OIHW4i16o2i2i the products of uint8 and int8 are summed
// in pairs, in int16 that saturates, as processors without VNNI do: for weights where that cannot happen
// (transform/layout/narrow_products.h).
#include "baton/ir/layout.h"
#include "baton/ir/rules/brief.h"
#include "baton/ir/rules/narrow_weight.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/nn/conv/conv2d.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/support/error.h"

namespace baton {

namespace {

/// The block of `NCHW{n}c`, or 0 when `layout` is another one.
int64_t channels_in_block(const std::string& layout) {
  const auto parsed = Layout::parse(layout);
  if (!parsed || parsed->rank() != 5 || parsed->primal() != "NCHW") return 0;
  return layout == "NCHW" + std::to_string(parsed->factor('C')) + "c" ? parsed->factor('C') : 0;
}

std::string weight_layout(int64_t in_block, int64_t out_block) {
  return "OIHW" + std::to_string(in_block) + "i" + std::to_string(out_block) + "o";
}

/// How many channels of a block lie next to each other in the weight: k in OIHW{n / k}i{o}o{k}i, 1 in
/// OIHW{n}i{o}o, 0 in another layout.
struct Neighbours {
  int64_t together = 0;
  bool pairs = false;  ///< OIHW{n / 4}i{o}o2i2i: products are summed in pairs, in int16
};

Neighbours neighbours_in(const std::string& layout, int64_t in_block, int64_t out_block) {
  if (in_block == 0 || out_block == 0) return {};
  if (layout == weight_layout(in_block, out_block)) return {1};
  for (const auto& [suffix, together] : {std::pair("2i", 2), std::pair("4i", 4), std::pair("2i2i", 4)})
    if (in_block % together == 0 && layout == weight_layout(in_block / together, out_block) + suffix)
      return {together, layout.ends_with("2i2i")};
  return {};
}

}  // namespace

Halide::Func packed_pad(Compute& c, const Tensor& data, const Padding2D& pad) {
  if (pad.top == 0 && pad.left == 0 && pad.bottom == 0 && pad.right == 0) return data.func();
  const Axes i(data.rank(), "p");
  const int y_axis = 2, x_axis = 3;
  const Halide::Expr height = data.size(y_axis), width = data.size(x_axis);
  const Halide::Expr y = i[y_axis] - as_int(pad.top), x = i[x_axis] - as_int(pad.left);
  Index at = i.exprs();
  at[y_axis] = clamp(likely(y), 0, height - 1);
  at[x_axis] = clamp(likely(x), 0, width - 1);
  c.needs_elements(data.dim(y_axis)), c.needs_elements(data.dim(x_axis));
  Halide::Func padded = c.stage("pad");
  padded(i.reversed()) = select(y < 0 || y >= height || x < 0 || x >= width,
                                Halide::cast(data.func().types().front(), 0), likely(data(at)));
  return padded;
}

namespace {

/// `attrs` with the layout that the weight is read in. One of rank 6 under an unpacked kernel_layout (the
/// default) is OIHW{i}i{o}o, as TVM's kernels read it. The relation accepts every weight, so its extents are
/// checked here: Error when they are not those that the other attributes and the data need.
Conv2DAttrs with_weight_layout(const Compute& c, Conv2DAttrs attrs, const char* op) {
  const Tensor &data = c.in(0), &weight = c.in(1);
  if (weight.rank() == 6 && attrs.kernel_layout == "OIHW" && weight.extent(4) > 0 && weight.extent(5) > 0)
    attrs.kernel_layout = weight_layout(weight.extent(4), weight.extent(5));
  const Layout nchw = *Layout::parse("NCHW"), layout = *Layout::parse(attrs.kernel_layout);
  const bool grouped = layout.find('G') >= 0;
  const int64_t groups = attrs.groups, channels = *attrs.channels;
  const int64_t in_channels = number_of(
      convert_shape(data.dims(), *Layout::parse(attrs.data_layout), nchw)[1], "a number for the channels");
  const std::vector<int64_t>&window = *attrs.kernel_size, &shape = weight.shape();
  std::vector<int64_t> needed{channels, in_channels / groups, window[0], window[1]}, by_group = needed;
  if (groups > 1) by_group = {groups, channels / groups, window[0], window[1]};  // (groups, multiplier, h, w)
  if (grouped) needed = by_group = {groups, channels / groups, in_channels / groups, window[0], window[1]};
  // Blocks may be filled up: OIHW4i4o of one input channel has four.
  const Layout canonical = *Layout::parse(grouped ? "GOIHW" : "OIHW");
  const bool fits = shape == convert_shape(needed, canonical, layout) ||
                    (in_channels == groups && shape == convert_shape(by_group, canonical, layout));
  if (fits && in_channels % groups == 0 && channels % groups == 0) return attrs;
  throw Error(std::string("`") + op + "`: " + std::to_string(channels) + " channels in " +
              std::to_string(groups) + " groups of data with " + std::to_string(in_channels) +
              " channels need a weight of shape " + shape_text({needed.begin(), needed.end()}) + " in " +
              (grouped ? "GOIHW" : "OIHW") + "; got " + shape_text({shape.begin(), shape.end()}) +
              " in kernel_layout " + attrs.kernel_layout +
              "; name the layout that the weight has, for example OIHW4i4o");
}

std::optional<AxisRange> rows_of_packed_pixels(const CallNode& call) {
  const auto& attrs = attrs_as<Conv2DAttrs>(call.attrs());
  const auto* result = as_type<TensorTypeNode>(call.checked_type());
  const bool applies = result && result->is_known() && result->rank() == 5 && attrs.groups == 1 &&
                       channels_in_block(attrs.data_layout) &&
                       (attrs.out_layout.empty() || channels_in_block(attrs.out_layout)) &&
                       has_one_tap(attrs) &&
                       (result->is_static() || attrs.strides == std::vector<int64_t>{1, 1});
  return applies ? std::optional(kPixelAxes) : std::nullopt;
}

/// The pixels of the data that a convolution with one tap and strides reads, where those of the result are
/// one row (JoinableAxes): next to each other, as without strides.
Halide::Func strided_pixels(Compute& c, const Tensor& data, const Conv2DAttrs& attrs) {
  const int width = as_int((data.extent(3) - 1) / attrs.strides[1] + 1);
  const Axes i(data.rank(), "p");
  Index at = i.exprs();
  at[2] = i[3] / width * as_int(attrs.strides[0]);
  at[3] = i[3] % width * as_int(attrs.strides[1]);
  Halide::Func pixels = c.stage("strided");
  pixels(i.reversed()) = data(at);
  return pixels;
}

// nn.contrib_conv2d_NCHWc. Data NCHW{i}c, weight OIHW{i}i{o}o or OIHW{i/k}i{o}o{k}i, result NCHW{o}c: stages
// "pad" (only with padding), "strided" (only with strides, of joined rows), "conv2d" (the sum) and "out".
// Other layouts and groups: conv2d_compute.
void conv2d_nchwc_compute(Compute& c, const Conv2DAttrs& given) {
  const Conv2DAttrs attrs = with_weight_layout(c, given, "nn.contrib_conv2d_NCHWc");
  const int64_t in_block = channels_in_block(attrs.data_layout);
  const int64_t out_block =
      channels_in_block(attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout);
  const Neighbours neighbours = neighbours_in(attrs.kernel_layout, in_block, out_block);
  const int together = as_int(neighbours.together);
  if (!together || attrs.groups != 1) return conv2d_compute(c, attrs);

  const Tensor &data = c.in(0), &weight = c.in(1);
  const Halide::Type type = halide_type(c.out().dtype());
  const bool joined = attrs.kernel_size == std::vector<int64_t>{1, 1} && c.out().is_static() &&
                      c.out().extents()[2] == 1 &&
                      c.out().extents()[3] > (data.extent(3) + attrs.strides[1] - 1) / attrs.strides[1];
  const Halide::Func padded =
      joined ? strided_pixels(c, data, attrs) : packed_pad(c, data, *padding_2d(attrs.padding));
  const int strides[2] = {joined ? 1 : as_int(attrs.strides[0]), joined ? 1 : as_int(attrs.strides[1])};
  std::vector<Halide::Range> ranges;
  if (together > 1) ranges.emplace_back(0, neighbours.pairs ? 2 : together);
  for (const int64_t extent : {in_block / together, weight.extent(3), weight.extent(2), weight.extent(1)})
    ranges.emplace_back(0, as_int(extent));
  const Halide::RDom r(ranges, "r");
  const int first = together > 1 ? 1 : 0;
  const Halide::Expr i = r[first], kx = r[first + 1], ky = r[first + 2], kb = r[first + 3];
  const Halide::Var o("o"), x("x"), y("y"), ob("ob"), n("n");
  const auto pixel = [&](const Halide::Expr& channel, const Halide::Expr& dx, const Halide::Expr& dy,
                         const Halide::Expr& block) {
    return padded(channel, x * strides[1] + dx * as_int(attrs.dilation[1]),
                  y * strides[0] + dy * as_int(attrs.dilation[0]), block, n);
  };
  Halide::Func conv = c.stage("conv2d");
  conv(o, x, y, ob, n) = cast(type, 0);
  if (neighbours.pairs) {
    // No stage: computed where it is read.
    const Halide::Type half = Halide::Int(16);
    const Halide::Var q("q"), vi("i"), vx("kx"), vy("ky"), vb("kb");
    const Halide::RDom p(0, 2, "p");
    Halide::Func pairs(conv.name() + "_pairs");
    pairs(q, o, x, y, ob, n, vi, vx, vy, vb) = cast(half, 0);
    pairs(q, o, x, y, ob, n, vi, vx, vy, vb) =
        saturating_add(pairs(q, o, x, y, ob, n, vi, vx, vy, vb),
                       cast(half, weight(ob, vb, vy, vx, vi, o, q, p.x)) *
                           cast(half, pixel(vi * together + q * 2 + p.x, vx, vy, vb)));
    conv(o, x, y, ob, n) += cast(type, pairs(r[0], o, x, y, ob, n, i, kx, ky, kb));
  } else {
    Index tap{ob, kb, ky, kx, i, o};
    if (together > 1) tap.push_back(r[0]);
    const Halide::Expr channel = together > 1 ? i * together + r[0] : i;
    conv(o, x, y, ob, n) += cast(type, weight(tap)) * cast(type, pixel(channel, kx, ky, kb));
  }
  c.result(copy_stage(c, conv));
}

// nn.contrib_depthwise_conv2d_NCHWc. Data and result NCHW{c}c, weight OIHW1i{c}o, as many groups as
// channels: stages "pad" (only with padding), "dwconv2d" and "out". Anything else: conv2d_compute.
void depthwise_conv2d_nchwc_compute(Compute& c, const Conv2DAttrs& given) {
  const Conv2DAttrs attrs = with_weight_layout(c, given, "nn.contrib_depthwise_conv2d_NCHWc");
  const int64_t block = channels_in_block(attrs.data_layout);
  const bool same_out = attrs.out_layout.empty() || attrs.out_layout == attrs.data_layout;
  const Tensor &data = c.in(0), &weight = c.in(1);
  if (!block || !same_out || attrs.kernel_layout != weight_layout(1, block) ||
      attrs.groups != data.extent(1) * block || weight.extent(0) != data.extent(1))
    return conv2d_compute(c, attrs);

  const Halide::Type type = halide_type(c.out().dtype());
  const Halide::Func padded = packed_pad(c, data, *padding_2d(attrs.padding));
  const Halide::RDom r(0, as_int(weight.extent(3)), 0, as_int(weight.extent(2)), "r");
  const Halide::Var ch("c"), x("x"), y("y"), cb("cb"), n("n");
  const Halide::Expr px = x * as_int(attrs.strides[1]) + r.x * as_int(attrs.dilation[1]);
  const Halide::Expr py = y * as_int(attrs.strides[0]) + r.y * as_int(attrs.dilation[0]);
  Halide::Func conv = c.stage("dwconv2d");
  conv(ch, x, y, cb, n) = cast(type, 0);
  conv(ch, x, y, cb, n) += cast(type, weight(cb, 0, r.y, r.x, 0, ch)) * cast(type, padded(ch, px, py, cb, n));
  c.result(copy_stage(c, conv));
}

}  // namespace

const OpDef& op_nn_contrib_conv2d_NCHWc() {
  static const OpDef def = OpSpec<Conv2DAttrs>{
      .name = "nn.contrib_conv2d_NCHWc",
      .doc =
          "nn.conv2d on packed layouts such as NCHW16c and OIHW16i16o, of integers also OIHW8i16o2i and "
          "OIHW4i16o4i. In OIHW4i16o2i2i, of uint8 data and int8 weights, the products of channels 2k and "
          "2k + 1 are summed in int16, which saturates.",
      .inputs = {{"data", "packed tensor"}, {"weight", "packed tensor"}},
      .fuse = Fuse::kOutFusable,
      .relation = packed_conv2d_relation,
      .compute = conv2d_nchwc_compute,
      .cost = conv_cost,
      .python =
          "nn.contrib_conv2d_nchwc(data, kernel, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, "
          "channels=None, kernel_size=None, data_layout='NCHW8c', kernel_layout='OIHW', out_layout='', "
          "out_dtype='')",
      .rules = op_rules(conv_brief(), conv_layout_flow(), conv_macs(), AnchorRule{"conv_direct"},
                        NarrowWeight{}, JoinableAxes{rows_of_packed_pixels}),
      .test_shapes =
          {"(1, 2, 6, 6, 4)f32, (2, 2, 3, 3, 4, 4)f32, padding=[1, 1, 1, 1], channels=8, "
           "kernel_size=[3, 3], data_layout=NCHW4c, kernel_layout=OIHW4i4o, out_layout=NCHW4c",
           "(1, 1, 7, 5, 16)f32, (2, 1, 1, 1, 16, 16)f32, channels=32, kernel_size=[1, 1], "
           "data_layout=NCHW16c, kernel_layout=OIHW16i16o, out_layout=NCHW16c",
           // groups; depthwise; the weight's layout by its shape
           "(1, 2, 5, 3, 4)f32, (3, 1, 3, 3, 4, 4)f32, groups=2, channels=12, kernel_size=[3, 3], "
           "data_layout=NCHW4c, kernel_layout=OIHW4i4o",
           "(2, 2, 5, 7, 4)f32, (2, 1, 3, 3, 1, 4)f32, padding=[1, 1, 1, 1], groups=8, channels=8, "
           "kernel_size=[3, 3], data_layout=NCHW4c, kernel_layout=OIHW1i4o",
           // channels of integers in pairs and fours
           "(1, 2, 5, 6, 4)i16[-9, 9], (2, 2, 3, 3, 2, 4, 2)i16[-9, 9], padding=[1, 1, 1, 1], channels=8, "
           "kernel_size=[3, 3], data_layout=NCHW4c, kernel_layout=OIHW2i4o2i, out_dtype=int32",
           "(1, 1, 5, 3, 16)u8[0, 9], (2, 1, 1, 1, 4, 8, 4)i8[-9, 9], strides=[2, 2], channels=16, "
           "kernel_size=[1, 1], data_layout=NCHW16c, kernel_layout=OIHW4i8o4i, out_layout=NCHW8c, "
           "out_dtype=int32",
           "(1, 2, 5, 6, 16)u8[0, 256], (2, 2, 3, 3, 4, 8, 2, 2)i8[-64, 65], padding=[1, 1, 1, 1], "
           "channels=16, "
           "kernel_size=[3, 3], data_layout=NCHW16c, kernel_layout=OIHW4i8o2i2i, out_layout=NCHW8c, "
           "out_dtype=int32",
           "(1, 1, 3, 1, 8)f32, (2, 1, 1, 1, 8, 4)f32, channels=8, kernel_size=[1, 1], "
           "data_layout=NCHW8c, out_layout=NCHW4c",
           "(0, 2, 6, 6, 4)f32, (2, 2, 3, 3, 4, 4)f32, channels=8, kernel_size=[3, 3], "
           "data_layout=NCHW4c, kernel_layout=OIHW4i4o"},
  };
  return def;
}

const OpDef& op_nn_contrib_depthwise_conv2d_NCHWc() {
  static const OpDef def = OpSpec<Conv2DAttrs>{
      .name = "nn.contrib_depthwise_conv2d_NCHWc",
      .doc = "Depthwise nn.conv2d (groups = channels) on packed layouts such as NCHW16c and OIHW1i16o.",
      .inputs = {{"data", "packed tensor"}, {"weight", "packed tensor"}},
      .fuse = Fuse::kOutFusable,
      .relation = packed_conv2d_relation,
      .compute = depthwise_conv2d_nchwc_compute,
      .cost = conv_cost,
      .python =
          "nn.contrib_depthwise_conv2d_nchwc(data, kernel, strides=(1, 1), padding=(0, 0), dilation=(1, 1), "
          "groups=1, channels=None, kernel_size=None, data_layout='NCHW8c', kernel_layout='OIHW', "
          "out_layout='', out_dtype='')",
      .rules = op_rules(conv_brief(), conv_layout_flow(), conv_macs(), AnchorRule{"conv_depthwise"}),
      .test_shapes =
          {"(1, 2, 6, 6, 4)f32, (2, 1, 3, 3, 1, 4)f32, padding=[1, 1, 1, 1], groups=8, channels=8, "
           "kernel_size=[3, 3], data_layout=NCHW4c, kernel_layout=OIHW1i4o, out_layout=NCHW4c",
           "(1, 2, 6, 1, 4)f32, (2, 1, 3, 1, 1, 4)f32, groups=8, channels=8, kernel_size=[3, 1], "
           "data_layout=NCHW4c"},
  };
  return def;
}

}  // namespace baton
