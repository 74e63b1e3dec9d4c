// nn.conv2d on plain layouts (NCHW), i.e. without the layout pass: vectors along a row of pixels, sums of
// several output channels in registers. At best half as fast as the packed form; mostly not memory bound.
#include <algorithm>

#include "baton/ops/shared/conv_attrs.h"
#include "baton/schedule/common.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::Var;

std::string conv_plain_refuses(const LoweredKernel& kernel, const DeviceSheet&) {
  const std::string reason = refuses_anchor(kernel, "conv_plain", "conv2d");
  if (!reason.empty()) return reason;
  const Conv2DAttrs& attrs = attrs_as<Conv2DAttrs>(anchor_of(kernel).call->attrs());
  const std::string& out = attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
  return out == "NCHW" ? "" : "the result's layout is " + out + ", not NCHW";
}

int groups_of(const LoweredKernel& kernel) {
  return static_cast<int>(attrs_as<Conv2DAttrs>(anchor_of(kernel).call->attrs()).groups);
}

ScheduleParams conv_plain_default_params(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const int channels = result_extent(kernel, 1), height = result_extent(kernel, 2),
            width = result_extent(kernel, 3);
  // Channels of one group share their input.
  const int tile_c = divisor_below(std::max(1, channels / groups_of(kernel)), 8);
  const int tile_y = std::clamp(sheet.vector_registers * 3 / 4 / tile_c, 1, std::min(4, height));
  return {{"tile_x", std::min(sheet.float_lanes, width)}, {"tile_y", tile_y}, {"tile_c", tile_c}};
}

std::vector<ScheduleParams> conv_plain_candidates(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  std::vector<ScheduleParams> all{conv_plain_default_params(kernel, sheet)};
  for (int y : {1, 2, 3}) {
    ScheduleParams params = all.front();
    params["tile_y"] = y;
    if (y <= result_extent(kernel, 2) && params != all.front()) all.push_back(std::move(params));
  }
  return all;
}

void conv_plain_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  const int channels = result_extent(kernel, 1), height = result_extent(kernel, 2),
            width = result_extent(kernel, 3);
  const int tile_x = std::min(params.at("tile_x"), width), tile_y = std::min(params.at("tile_y"), height);
  const int tile_c = divisor_below(channels, params.at("tile_c"));
  Func out = output_of(kernel), conv = anchor_stage(kernel, "conv2d");
  const std::vector<Var> i = out.args();
  const Var xo("xo"), xi("xi"), yo("yo"), yi("yi"), co("co"), ci("ci"), task("task");
  out.split(i[0], xo, xi, tile_x, inside(kernel, result_dim(kernel, 3), tile_x))
      .split(i[1], yo, yi, tile_y, inside(kernel, result_dim(kernel, 2), tile_y))
      .split(i[2], co, ci, tile_c)
      .reorder(xi, yi, ci, xo, yo, co, i[3])
      .vectorize(xi)
      .unroll(yi)
      .unroll(ci)
      .fuse(yo, co, task)
      .parallel(task);

  const std::vector<Var> c = conv.args();
  std::vector<Halide::VarOrRVar> order{c[0], c[1], c[2]};
  for (const RVar& r :
       {RVar(conv.rvars()[0].name()), RVar(conv.rvars()[1].name()), RVar(conv.rvars()[2].name())})
    order.push_back(r);
  order.push_back(c[3]);
  conv.compute_at(out, xo).bound_extent(c[0], tile_x).vectorize(c[0]).unroll(c[1]).unroll(c[2]);
  conv.update().reorder(order).vectorize(c[0]).unroll(c[1]).unroll(c[2]);

  if (const Func* found = anchor_of(kernel).stage("pad")) {
    Func pad = *found;
    const std::vector<Var> p = pad.args();
    pad.compute_root().vectorize(p[0], sheet.float_lanes, Halide::TailStrategy::GuardWithIf).parallel(p[2]);
  }
  schedule_feeders(kernel, sheet);
}

}  // namespace

const ScheduleTemplate& template_conv_plain() {
  static const ScheduleTemplate def = {
      .name = "conv_plain",
      .doc = "convolution on plain layouts, vectors along a row of pixels",
      .refuses = conv_plain_refuses,
      .default_params = conv_plain_default_params,
      .candidates = conv_plain_candidates,
      .apply = conv_plain_apply,
      .loops = pixel_loops,
      .usual = {56, 8, 4, 1},  // most images are a multiple of 7 pixels wide, after some halvings
  };
  return def;
}

}  // namespace baton
