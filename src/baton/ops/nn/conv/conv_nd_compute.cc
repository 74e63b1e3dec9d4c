#include "baton/ops/nn/conv/conv_nd_compute.h"

#include <algorithm>

#include "baton/ops/domain.h"

namespace baton {

namespace {

// Index (n, channel, spatial...) of a tensor in `layout` with `count` spatial axes.
Halide::Expr at_plain(const Tensor& tensor, const Layout& layout, const Index& plain) {
  const Layout canonical = *Layout::parse(data_letters(static_cast<int>(plain.size()) - 2));
  return tensor(convert_index<Halide::Expr>(plain, canonical, layout));
}

bool any_positive(const std::vector<int64_t>& values) {
  return std::any_of(values.begin(), values.end(), [](int64_t value) { return value > 0; });
}

}  // namespace

void conv_nd_compute(Compute& c, const ConvNd& conv) {
  const Layout canonical = *Layout::parse(data_letters(conv.count)),
               kernel_canonical = *Layout::parse(std::string("OI") + spatial_letters(conv.count));
  const Tensor &data = c.in(0), &weight = c.in(1);
  const std::vector<int64_t> in = convert_shape(data.shape(), conv.data_layout, canonical);
  const std::vector<int64_t> kernel = convert_shape(weight.shape(), conv.kernel_layout, kernel_canonical);
  const std::vector<int64_t> out = convert_shape(c.out().extents(), conv.out_layout, canonical);
  const Halide::Type type = halide_type(c.out().dtype());
  Halide::Func padded;
  if (any_positive(conv.before) || any_positive(conv.after)) {
    padded = c.stage("pad");
    const Axes j(2 + conv.count, "p");
    Index at = j.exprs();
    Halide::Expr inside = Halide::Internal::const_true();
    for (int k = 0; k < conv.count; ++k) {
      const Halide::Expr position = j[2 + k] - as_int(conv.before[k]);
      inside = inside && position >= 0 && position < as_int(in[2 + k]);
      at[2 + k] = inside_axis(position, in[2 + k]);
    }
    padded(j.reversed()) = select(inside, cast(type, at_plain(data, conv.data_layout, at)), cast(type, 0));
  }

  const int out_per_group = as_int(out[1] / conv.groups), in_per_group = as_int(in[1] / conv.groups);
  std::vector<int64_t> extents(kernel.begin() + 2, kernel.end());
  extents.insert(extents.begin(), in_per_group);
  const Domain r(extents);
  const Axes i(conv.out_layout.rank());
  const Index to = convert_index<Halide::Expr>(i.exprs(), conv.out_layout, canonical);
  const Halide::Expr group = conv.groups == 1 ? Halide::Expr(0) : to[1] / out_per_group;
  // Relay's depthwise weight may be stored (groups, multiplier, ...): then `O` is the group and `I` the
  // multiplier.
  const bool by_group = conv.groups > 1 && kernel[0] == conv.groups && kernel[0] != out[1];
  Index from{to[0], group * in_per_group + r[0]}, tap{to[1], r[0]};
  if (by_group) tap = {group, to[1] % out_per_group};
  for (int k = 0; k < conv.count; ++k) {
    from.push_back(to[2 + k] * as_int(conv.strides[k]) + r[1 + k] * as_int(conv.dilation[k]));
    tap.push_back(r[1 + k]);
  }
  const Halide::Expr value =
      padded.defined() ? padded(reversed(from)) : cast(type, at_plain(data, conv.data_layout, from));
  Halide::Func sum = c.stage("conv");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) +=
      value * cast(type, weight(convert_index<Halide::Expr>(tap, kernel_canonical, conv.kernel_layout)));
  c.result(copy_stage(c, sum));
}

void conv_transpose_compute(Compute& c, const ConvNd& conv, const std::string& kernel_letters) {
  const bool grouped = kernel_letters[0] == 'G';
  const int first = grouped ? 1 : 0;
  const Layout canonical = *Layout::parse(data_letters(conv.count)),
               kernel_canonical = *Layout::parse(kernel_letters);
  const Tensor &data = c.in(0), &weight = c.in(1);
  const std::vector<int64_t> in = convert_shape(data.shape(), conv.data_layout, canonical);
  const std::vector<int64_t> kernel = convert_shape(weight.shape(), conv.kernel_layout, kernel_canonical);
  const std::vector<int64_t> out = convert_shape(c.out().extents(), conv.out_layout, canonical);
  const Halide::Type type = halide_type(c.out().dtype());
  const int out_per_group = as_int(out[1] / conv.groups), in_per_group = as_int(in[1] / conv.groups);
  // Without dilation only every stride-th tap of a position meets an element: those are counted.
  std::vector<int64_t> extents{in_per_group};
  for (int k = 0; k < conv.count; ++k) {
    const int64_t taps = kernel[first + 2 + k], stride = conv.strides[k];
    extents.push_back(conv.dilation[k] == 1 ? (taps + stride - 1) / stride : taps);
  }
  const Domain r(extents);
  const Axes i(conv.out_layout.rank());
  const Index to = convert_index<Halide::Expr>(i.exprs(), conv.out_layout, canonical);
  const Halide::Expr group = conv.groups == 1 ? Halide::Expr(0) : to[1] / out_per_group;
  const Halide::Expr channel = group * in_per_group + r[0],
                     filter = conv.groups == 1 ? to[1] : to[1] % out_per_group;
  Index from{to[0], channel}, tap = grouped ? Index{group, r[0], filter} : Index{channel, filter};
  Halide::Expr inside = Halide::Internal::const_true();
  for (int k = 0; k < conv.count; ++k) {
    const int stride = as_int(conv.strides[k]), taps = as_int(kernel[first + 2 + k]);
    const Halide::Expr spread = to[2 + k] + as_int(conv.before[k]);
    Halide::Expr at = r[1 + k], position;
    if (conv.dilation[k] == 1) {
      position = spread / stride - at;
      at = spread % stride + at * stride;
      if (taps % stride != 0) inside = inside && at < taps;
    } else {
      const Halide::Expr reach = spread - at * as_int(conv.dilation[k]);
      position = reach / stride;
      inside = inside && reach % stride == 0;
    }
    inside = inside && position >= 0 && position < as_int(in[2 + k]);
    from.push_back(inside_axis(position, in[2 + k]));
    tap.push_back(inside_axis(at, taps));
  }
  const Halide::Expr value =
      select(inside, cast(type, at_plain(data, conv.data_layout, from)), cast(type, 0));
  Halide::Func sum = c.stage("conv_transpose");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) +=
      value * cast(type, weight(convert_index<Halide::Expr>(tap, kernel_canonical, conv.kernel_layout)));
  c.result(copy_stage(c, sum));
}

void conv2d_backward_weight_compute(Compute& c, const Conv2DAttrs& attrs) {
  const Layout nchw = *Layout::parse("NCHW"), oihw = *Layout::parse("OIHW");
  const Layout grad_layout = *Layout::parse(attrs.data_layout),
               data_layout = *Layout::parse(attrs.kernel_layout);
  const Layout out_layout = *Layout::parse(attrs.out_layout.empty() ? "OIHW" : attrs.out_layout);
  const Tensor &grad = c.in(0), &data = c.in(1);
  const std::vector<int64_t> result = convert_shape(grad.shape(), grad_layout, nchw),
                             in = convert_shape(data.shape(), data_layout, nchw);
  const Padding2D pad = *padding_2d(attrs.padding);
  const int out_per_group = as_int(result[1] / attrs.groups), in_per_group = as_int(in[1] / attrs.groups);
  const Halide::Type type = halide_type(c.out().dtype());
  const Axes i(out_layout.rank());
  const Index w = convert_index<Halide::Expr>(i.exprs(), out_layout, oihw);
  const Domain r({result[0], result[2], result[3]});
  const Halide::Expr channel = attrs.groups == 1 ? w[1] : w[0] / out_per_group * in_per_group + w[1];
  const Halide::Expr y = r[1] * as_int(attrs.strides[0]) + w[2] * as_int(attrs.dilation[0]) - as_int(pad.top);
  const Halide::Expr x =
      r[2] * as_int(attrs.strides[1]) + w[3] * as_int(attrs.dilation[1]) - as_int(pad.left);
  const Halide::Expr inside = y >= 0 && y < as_int(in[2]) && x >= 0 && x < as_int(in[3]);
  const Halide::Expr value =
      at_plain(data, data_layout, {r[0], channel, inside_axis(y, in[2]), inside_axis(x, in[3])});
  Halide::Func sum = c.stage("backward_weight");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) += select(inside, cast(type, value), cast(type, 0)) *
                       cast(type, at_plain(grad, grad_layout, {r[0], w[0], r[1], r[2]}));
  c.result(copy_stage(c, sum));
}

void deformable_conv2d_compute(Compute& c, const DeformableConv2DAttrs& attrs) {
  const Layout nchw = *Layout::parse("NCHW"), oihw = *Layout::parse("OIHW");
  const Layout data_layout = *Layout::parse(attrs.data_layout),
               kernel_layout = *Layout::parse(attrs.kernel_layout);
  const Layout out_layout = attrs.out_layout.empty() ? data_layout : *Layout::parse(attrs.out_layout);
  const Tensor &data = c.in(0), &offset = c.in(1), &weight = c.in(2);
  const std::vector<int64_t> in = convert_shape(data.shape(), data_layout, nchw);
  const std::vector<int64_t> kernel = convert_shape(weight.shape(), kernel_layout, oihw);
  const std::vector<int64_t> out = convert_shape(c.out().extents(), out_layout, nchw);
  const Padding2D pad = *padding_2d(attrs.padding);
  const Halide::Type type = sum_type(c.out().dtype());
  const int height = as_int(in[2]), width = as_int(in[3]), kernel_width = as_int(kernel[3]),
            taps = as_int(kernel[2] * kernel[3]);

  // The data under each tap of each position, interpolated between four pixels; 0 outside.
  Halide::Func moved = c.stage("sample");
  const Axes s(5, "s");  // image, channel, tap, y, x
  const Halide::Expr part = s[1] / as_int(in[1] / attrs.deformable_groups), ky = s[2] / kernel_width,
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
        at_plain(data, data_layout, {s[0], s[1], inside_axis(at_y, height), inside_axis(at_x, width)});
    return select(at_y < height && at_x < width, cast(type, value), cast(type, 0));
  };
  const Halide::Expr top = pixel(0, 0) * (1 - dx) + pixel(0, 1) * dx,
                     bottom = pixel(1, 0) * (1 - dx) + pixel(1, 1) * dx;
  const Halide::Expr inside = y >= 0 && x >= 0 && y < height && x < width;
  moved(s.reversed()) = select(inside, top * (1 - dy) + bottom * dy, cast(type, 0));

  const int out_per_group = as_int(out[1] / attrs.groups), in_per_group = as_int(in[1] / attrs.groups);
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

}  // namespace baton
