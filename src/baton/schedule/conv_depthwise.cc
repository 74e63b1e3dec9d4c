// Depthwise convolution on packed channels: a row of pixels is accumulated in registers over all taps. The
// data are read in place: rows of taps that lie in the padding are skipped, and columns of the padding are
// constant in the first and last tile of a row. Where that is not possible, blocks of channels are padded
// into the first-level cache just before use; that copy takes as long as a third of the sums.
#include <algorithm>

#include "baton/schedule/common.h"
#include "baton/schedule/read_padding.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::Var;

/// The limit on multiply-adds unrolled into one block of code.
constexpr int kUnrolledFmas = 256;
/// The same for several rows of taps when each is skipped in the padding by a branch of its own.
constexpr int kUnrolledRows = 128;
/// Up to so many tiles of a row are unrolled: each has columns in the padding, or may have.
constexpr int kUnrolledTiles = 2;
/// What padding the data adds to the time of the sums.
constexpr double kCopy = 0.35;

std::string conv_depthwise_refuses(const LoweredKernel& kernel, const DeviceSheet&) {
  const std::string reason = refuses_anchor(kernel, "conv_depthwise", "dwconv2d", true);
  if (!reason.empty()) return reason;
  return is_float32_or_integers(anchor_of(kernel)) ? "" : "neither float32 nor a sum of integers in int32";
}

int conv_depthwise_vectors_of(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  return tiles_of(result_extent(kernel, 4), sheet.float_lanes);
}

/// Whether the data need not be copied: they are a parameter, not computed in the kernel tap by tap, and the
/// padding is of the known form.
bool reads_in_place(const LoweredKernel& kernel) {
  const OpBlock& anchor = anchor_of(kernel);
  const Func* pad = anchor.stage("pad");
  return pad && anchor.producers[0] < 0 && can_skip_padding(*pad, anchor_stage(kernel, "dwconv2d"));
}

ScheduleParams conv_depthwise_default_params(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const int width = result_extent(kernel, 3), height = result_extent(kernel, 2);
  const int vectors = conv_depthwise_vectors_of(kernel, sheet);
  const bool padded = anchor_of(kernel).stage("pad"), in_place = reads_in_place(kernel);
  ScheduleParams best;
  double least = 1e300;
  const int most_rows = result_dim(kernel, 2).is_symbolic() ? 1 : 4;
  for (int y = 1; y <= std::min(most_rows, height); ++y)
    for (int x = 1; x <= width; ++x) {
      if (x * y * vectors > sheet.vector_registers / 2) break;
      // Which rows of taps are skipped differs from row to row.
      const bool copy = padded && (y > 1 || !in_place);
      const double lost = double(tiles_of(width, x) * x) / width * (tiles_of(height, y) * y) / height;
      const double cost =
          lost * (1 + 4.0 / (x * y * vectors)) * (1 + 0.01 * (y - 1)) * (copy ? 1 + kCopy : 1);
      if (cost < least) least = cost, best = {{"copy", copy}, {"tile_x", x}, {"tile_y", y}};
    }
  return best;
}

std::vector<ScheduleParams> conv_depthwise_candidates(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  std::vector<ScheduleParams> all{conv_depthwise_default_params(kernel, sheet)};
  const bool padded = anchor_of(kernel).stage("pad"), in_place = reads_in_place(kernel);
  for (int copy : {0, 1})
    for (int y : {1, 2, 4})
      for (int x : {4, 7, 8, 14}) {
        if (x > result_extent(kernel, 3) || y > result_extent(kernel, 2) ||
            x * y * conv_depthwise_vectors_of(kernel, sheet) > sheet.vector_registers)
          continue;
        if (copy ? !padded : padded && (y > 1 || !in_place)) continue;
        ScheduleParams params = {{"copy", copy}, {"tile_x", x}, {"tile_y", y}};
        if (params != all.front()) all.push_back(std::move(params));
      }
  return all;
}

void conv_depthwise_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  const int width = result_extent(kernel, 3), height = result_extent(kernel, 2);
  const int tile_x = std::min(params.at("tile_x"), width), tile_y = std::min(params.at("tile_y"), height);
  const int block = result_extent(kernel, 4);
  const Tensor& weight = anchor_of(kernel).inputs[1];
  const int taps_x = static_cast<int>(weight.extent(3)), taps = taps_x * static_cast<int>(weight.extent(2));
  Func out = output_of(kernel), conv = anchor_stage(kernel, "dwconv2d");
  const std::vector<Var> i = out.args();
  const Var ch = i[0], x = i[1], y = i[2], cb = i[3], n = i[4];
  const Var xo("xo"), xi("xi"), yo("yo"), yi("yi"), task("task");

  out.split(x, xo, xi, tile_x, inside(kernel, result_dim(kernel, 3), tile_x))
      .split(y, yo, yi, tile_y, inside(kernel, result_dim(kernel, 2), tile_y))
      .reorder(ch, xi, yi, xo, yo, cb, n)
      .vectorize(ch)
      .unroll(xi)
      .unroll(yi)
      .fuse(cb, n, task)
      .parallel(task);

  const Func* pad = anchor_of(kernel).stage("pad");
  const bool in_place = pad && !params.at("copy");
  if (in_place) {
    BATON_CHECK(tile_y == 1 && reads_in_place(kernel), kernel.name + ": the data must be copied");
    skip_padding(*pad, conv);
    if (!result_dim(kernel, 3).is_symbolic() && tiles_of(width, tile_x) <= kUnrolledTiles) out.unroll(xo);
  }

  const std::vector<Var> c = conv.args();
  const RVar rx(conv.rvars()[0].name()), ry(conv.rvars()[1].name());
  conv.compute_at(out, xo).bound_extent(c[0], block).vectorize(c[0]).unroll(c[1]).unroll(c[2]);
  Halide::Stage sum = conv.update();
  sum.reorder({c[0], c[1], c[2], c[3], c[4], rx, ry}).vectorize(c[0]).unroll(c[1]).unroll(c[2]);
  const int sums = tile_x * tile_y * tiles_of(block, sheet.float_lanes);
  if (sums * taps_x <= kUnrolledFmas) sum.unroll(rx);
  if (sums * taps <= (in_place ? kUnrolledRows : kUnrolledFmas)) sum.unroll(ry);

  if (pad && !in_place) {
    Func padded = *pad;
    const Var p = padded.args()[0];
    padded.compute_at(out, task).bound_extent(p, block).vectorize(p);
  }
  schedule_feeders(kernel, sheet, !in_place);
}

}  // namespace

const ScheduleTemplate& template_conv_depthwise() {
  static const ScheduleTemplate def = {
      .name = "conv_depthwise",
      .doc = "depthwise convolution on packed channels, sums of a row of pixels in registers",
      .refuses = conv_depthwise_refuses,
      .default_params = conv_depthwise_default_params,
      .candidates = conv_depthwise_candidates,
      .apply = conv_depthwise_apply,
      .loops = pixel_loops,
      .usual = {56, 8, 7, 1},  // most images are a multiple of 7 pixels wide, after some halvings
  };
  return def;
}

}  // namespace baton
