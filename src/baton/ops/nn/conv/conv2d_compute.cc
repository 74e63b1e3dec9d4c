#include "baton/ops/nn/conv/conv2d_compute.h"

#include "baton/ir/layout.h"
#include "baton/ops/compute_util.h"

namespace baton {

void conv2d_compute(Compute& c, const Conv2DAttrs& attrs) {
  const bool grouped = attrs.kernel_layout.find('G') != std::string::npos;
  const Layout nchw = *Layout::parse("NCHW"), oihw = *Layout::parse(grouped ? "GOIHW" : "OIHW");
  const Layout data_layout = *Layout::parse(attrs.data_layout),
               kernel_layout = *Layout::parse(attrs.kernel_layout);
  const Layout out_layout = attrs.out_layout.empty() ? data_layout : *Layout::parse(attrs.out_layout);
  const Tensor &data = c.in(0), &weight = c.in(1);
  const std::vector<int64_t> in = convert_shape(data.shape(), data_layout, nchw);
  const std::vector<int64_t> kernel = convert_shape(weight.shape(), kernel_layout, oihw);
  const std::vector<int64_t> out = convert_shape(c.out().extents(), out_layout, nchw);
  const Padding2D pad = *padding_2d(attrs.padding);
  const Halide::Type type = halide_type(c.out().dtype());
  const size_t o = grouped ? 1 : 0;

  auto at = [&](Halide::Expr n, Halide::Expr channel, Halide::Expr y, Halide::Expr x) {
    return cast(type, data(convert_index<Halide::Expr>({n, channel, y, x}, nchw, data_layout)));
  };
  Halide::Func padded;
  if (pad.height() > 0 || pad.width() > 0) {
    padded = c.stage("pad");
    const Axes j(4, "p");
    const Halide::Expr y = j[2] - as_int(pad.top), x = j[3] - as_int(pad.left);
    const Halide::Expr height = as_int(in[2]), width = as_int(in[3]);
    padded(j.reversed()) =
        select(y >= 0 && y < height && x >= 0 && x < width,
               at(j[0], j[1], clamp(y, 0, height - 1), clamp(x, 0, width - 1)), cast(type, 0));
  }

  // Depthwise with a multiplier and plain groups alike: a result channel belongs to group c / (channels /
  // groups).
  const int out_per_group = as_int(out[1] / attrs.groups), in_per_group = as_int(in[1] / attrs.groups);
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
  const bool by_group = !grouped && attrs.groups > 1 && kernel[0] == attrs.groups && kernel[0] != out[1];
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

}  // namespace baton
