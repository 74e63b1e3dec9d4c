// Winograd convolution on packed channels. The stages are: pad, input transform, one matrix product for each
// element of a transformed tile, output transform; fused consumers work on the finished tile. Two orders of
// the stages:
//   by rows:     some rows of tiles at a time go through all stages, so that V (transformed inputs) and M
//                (products) stay in the second-level cache; the weights are read once per step. For large
//                maps.
//   by channels: all inputs are transformed first; then some output channels at a time go through products
//                and output transform, so that the weights are read exactly once. For small maps, whose
//                weights are larger.
#include <algorithm>

#include "baton/ir/inspect.h"
#include "baton/schedule/common.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::Var;

/// Extents of a tile along one axis: m and a = m + taps - 1.
struct TileExtents {
  int outputs, inputs;
  /// The kernel has one tap along the axis: there is nothing to transform.
  bool unit() const { return inputs == 1; }
};

struct WinogradExtents {
  TileExtents vertical, horizontal;
  int width, height, across, down, out_blocks, out_block, in_blocks, in_block, batch;
  int64_t weight_bytes;
  int64_t tiles() const { return int64_t(across) * down; }
  /// Bytes of V or M for that many tiles and channels.
  int64_t transformed(int64_t count, int64_t channels) const {
    return 4 * int64_t(vertical.inputs) * horizontal.inputs * count * channels;
  }
};

WinogradExtents conv_winograd_extents_of(const LoweredKernel& kernel) {
  const Tensor &data = anchor_of(kernel).inputs[0], &weight = anchor_of(kernel).inputs[1];
  WinogradExtents e;
  const std::vector<int64_t> taps = ints_attr(*anchor_of(kernel).call, "kernel_size");
  const auto tile_of = [&](int axis) {
    const auto inputs = static_cast<int>(weight.extent(axis));
    return TileExtents{inputs - static_cast<int>(taps[static_cast<size_t>(axis)]) + 1, inputs};
  };
  e.vertical = tile_of(0), e.horizontal = tile_of(1);
  e.batch = result_extent(kernel, 0), e.out_blocks = result_extent(kernel, 1);
  e.height = result_extent(kernel, 2), e.width = result_extent(kernel, 3),
  e.out_block = result_extent(kernel, 4);
  e.in_blocks = static_cast<int>(data.extent(1)), e.in_block = static_cast<int>(data.extent(4));
  e.across = tiles_of(e.width, e.horizontal.outputs), e.down = tiles_of(e.height, e.vertical.outputs);
  e.weight_bytes = 4;
  for (int64_t extent : weight.shape()) e.weight_bytes *= extent;
  return e;
}

std::string conv_winograd_refuses(const LoweredKernel& kernel, const DeviceSheet&) {
  const std::string reason = refuses_anchor(kernel, "conv_winograd", "gemm_acc");
  if (!reason.empty()) return reason;
  if (anchor_of(kernel).inputs[0].rank() != 5) return "the data are not packed";
  for (const int axis : {1, 2, 3, 4})
    if (result_dim(kernel, axis).is_symbolic() || anchor_of(kernel).inputs[0].dim(axis).is_symbolic())
      return "rows of tiles are numbered, and there are symbolic extents";
  return "";
}

/// Whether M of all tiles and at least two blocks of channels fits, and V is not too large for the last-level
/// cache.
bool fits_by_channels(const WinogradExtents& e, const DeviceSheet& sheet) {
  return e.transformed(e.tiles(), 2 * e.out_block) <= sheet.l2_bytes / 2 &&
         e.transformed(e.tiles() * e.batch, int64_t(e.in_blocks) * e.in_block) <= sheet.l3_bytes / 4;
}

/// Tiles and blocks of channels that V or M has room for, so that the values of one tile, a plane apart each,
/// are not all in a few sets of the first-level cache: planes a multiple of 4096 bytes apart made layers of
/// 16 x 16 pixels a third slower.
struct Room {
  int tiles, blocks;
};

Room room_for(const WinogradExtents& e, int tiles, int blocks, int block, const DeviceSheet& sheet) {
  const int64_t planes = int64_t{e.vertical.inputs} * e.horizontal.inputs;
  // Half of a set's ways are for what is read or written beside the planes.
  const int64_t few = std::max<int64_t>(1, ways_of_l1(sheet) / 2);
  Room best{tiles, blocks};
  int64_t least = planes + 1;
  for (const Room room :
       {Room{tiles, blocks}, Room{tiles + 1, blocks}, Room{tiles, blocks + 1}, Room{tiles + 1, blocks + 1}}) {
    const int64_t in_one_set = rows_in_one_set(planes, int64_t{4} * block * room.tiles * room.blocks);
    if (in_one_set >= least) continue;
    least = in_one_set, best = room;
    if (least <= few) break;
  }
  return best;
}

ScheduleParams params_of(const WinogradExtents& e, const DeviceSheet& sheet, bool by_channels) {
  const int vectors = tiles_of(e.out_block, sheet.float_lanes);
  const bool streamed = e.weight_bytes > sheet.l2_bytes;
  int rows = e.down;
  if (!by_channels) {
    const int64_t one_row = e.transformed(e.across, int64_t(e.in_blocks) * e.in_block);
    rows =
        static_cast<int>(std::clamp<int64_t>(sheet.l2_bytes / 4 / std::max<int64_t>(1, one_row), 1, e.down));
    // Equal steps, and enough tiles for a register tile.
    rows = tiles_of(e.down, tiles_of(e.down, rows));
    while (rows < e.down && rows * e.across < 12) ++rows;
  }
  const int count = rows * e.across;
  TiledProduct product{count, e.out_blocks, vectors, e.in_blocks * e.in_block, streamed};
  product.lanes = e.out_block;
  product.sum_length = product.depth, product.prefetched = true;
  const RegisterTile tile = choose_register_tile(product, sheet);
  // Channels per step: as many as keep M in a quarter of the cache, but at least four steps, for parallelism.
  int group = tile.columns;
  for (int c : divisors(e.out_blocks))
    if (c % tile.columns == 0 && c <= 4 && (!by_channels || e.out_blocks / c >= 4) &&
        e.transformed(count, int64_t(c) * e.out_block) <= sheet.l2_bytes / 2)
      group = std::max(group, c);
  return {{"by_channels", by_channels}, {"rows", rows},     {"tile_t", tile.rows},
          {"tile_c", tile.columns},     {"group_c", group}, {"stream", streamed}};
}

ScheduleParams conv_winograd_default_params(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const WinogradExtents e = conv_winograd_extents_of(kernel);
  return params_of(e, sheet, fits_by_channels(e, sheet));
}

std::vector<ScheduleParams> conv_winograd_candidates(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const WinogradExtents e = conv_winograd_extents_of(kernel);
  std::vector<ScheduleParams> all{conv_winograd_default_params(kernel, sheet)};
  auto add = [&](const ScheduleParams& params) {
    if (std::find(all.begin(), all.end(), params) == all.end()) all.push_back(params);
  };
  for (bool by_channels : {false, true}) {
    const ScheduleParams base = params_of(e, sheet, by_channels);
    for (int rows : by_channels ? std::vector<int>{e.down} : std::vector<int>{1, 2, 4, 7})
      for (int t : {4, 7, 8, 14, 16, 28})
        for (int c : {1, 2, 4})
          for (int group : {c, 4})
            for (int stream : {0, 1}) {
              const int sums = t * c * tiles_of(e.out_block, sheet.float_lanes);
              if (rows > e.down || t > rows * e.across || e.out_blocks % c || e.out_blocks % group ||
                  group % c || sums < 4 || sums > 28)
                continue;
              ScheduleParams params = base;
              params["rows"] = rows, params["tile_t"] = t, params["tile_c"] = c, params["group_c"] = group,
              params["stream"] = stream;
              add(params);
            }
  }
  return all;
}

void conv_winograd_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  const WinogradExtents e = conv_winograd_extents_of(kernel);
  const bool by_channels = params.at("by_channels");
  const int rows = by_channels ? e.down : std::min(params.at("rows"), e.down), count = rows * e.across;
  const int tile_t = std::min(params.at("tile_t"), count),
            tile_c = divisor_below(e.out_blocks, params.at("tile_c"));
  int group = divisor_below(e.out_blocks, params.at("group_c"));
  if (group % tile_c) group = tile_c;

  Func out = output_of(kernel), out_xf = anchor_stage(kernel, "out_xf"),
       out_rows = anchor_stage(kernel, "out_xf1");
  Func gemm = anchor_stage(kernel, "gemm"), acc = anchor_stage(kernel, "gemm_acc");
  Func in_xf = anchor_stage(kernel, "in_xf"), in_rows = anchor_stage(kernel, "in_xf1");
  const std::vector<Var> i = out.args();
  const Var o = i[0], x = i[1], y = i[2], ob = i[3], n = i[4];
  const Var xo("xo"), xi("xi"), yo("yo"), yi("yi"), turn("turn"), obo("obo"), obi("obi"), to("to"), ti("ti"),
      task("task");

  const int across_m = e.horizontal.outputs, down_m = e.vertical.outputs;
  out.split(x, xo, xi, across_m, guarded(e.width, across_m))
      .split(y, yo, yi, down_m, guarded(e.height, down_m))
      .split(ob, obo, obi, group)
      .vectorize(o)
      .unroll(xi)
      .unroll(yi);
  if (by_channels)
    out.reorder(o, xi, yi, xo, yo, obi, obo, n).fuse(obo, n, task).parallel(task);
  else
    out.split(yo, turn, yo, rows, guarded(e.down, rows))
        .reorder(o, xi, yi, xo, yo, obi, obo, turn, n)
        .fuse(turn, n, task)
        .parallel(task);
  // Tiles at the edges are told apart by comparisons at each store. Loops of their own would be up to four
  // copies of the output transform to compile.
  out.never_partition(xo, yo);
  const Var per_group = by_channels ? task : obo;

  // The transforms multiply by one matrix from either side: the rows of the result are unrolled, as each has
  // its own sum, the columns a loop. Unrolled, too, they would not be faster, as a tile does not fit the
  // registers, and a third of the compile time of the kernel.
  // Along an axis of one tap there is none: the other one's is the whole transform.
  std::vector<Var> v = out_xf.args();  // o, p, q, t, ob, n
  out_xf.compute_at(out, xo)
      .bound_extent(v[0], e.out_block)
      .bound_extent(v[1], across_m)
      .bound_extent(v[2], down_m)
      .vectorize(v[0])
      .unroll(v[e.horizontal.unit() ? 2 : 1]);
  v = out_rows.args();  // o, ex, q, t, ob, n
  if (!e.vertical.unit() && !e.horizontal.unit())
    out_rows.compute_at(out, xo)
        .bound_extent(v[0], e.out_block)
        .reorder(v[0], v[2], v[1])
        .vectorize(v[0])
        .unroll(v[2]);

  v = gemm.args();  // o, t, ob, ex, ey, n
  gemm.compute_at(out, per_group)
      .bound_extent(v[0], e.out_block)
      .bound_extent(v[3], e.horizontal.inputs)
      .bound_extent(v[4], e.vertical.inputs)
      .split(v[1], to, ti, tile_t, inside(count, tile_t))
      .split(v[2], obo, obi, tile_c)
      .reorder(v[0], obi, ti, to, obo, v[3], v[4], v[5])
      .vectorize(v[0])
      .unroll(ti)
      .unroll(obi)
      .never_partition(to);  // the last step, shifted inwards, is a step like the others
  const Room room_m = room_for(e, count, group, e.out_block, sheet);
  gemm.align_storage(v[1], room_m.tiles).align_storage(v[2], room_m.blocks);
  v = acc.args();
  const RVar r0(acc.rvars()[0].name()), r1(acc.rvars()[1].name());
  acc.compute_at(gemm, to).vectorize(v[0]).unroll(v[1]).unroll(v[2]);
  acc.update()
      .reorder({v[0], v[2], v[1], v[3], v[4], v[5], r0, r1})
      .vectorize(v[0])
      .unroll(v[1])
      .unroll(v[2]);
  // With hardware prefetching alone, half of the time that the weights take is not overlapped.
  if (params.at("stream")) {
    const int64_t in_channels = int64_t{e.in_blocks} * e.in_block;
    const LoopRef channels{acc.name(), 1, r0.name()}, blocks{acc.name(), 1, r1.name()},
        passes{gemm.name(), 0, to.name()};
    kernel.streams.push_back({.array = input_name(anchor_of(kernel).inputs[1]),
                              .issue = channels,
                              .ahead = {gemm.name(), 0, gemm.args()[e.horizontal.unit() ? 4 : 3].name()},
                              .bytes = int64_t{4} * tile_c * e.out_block * e.in_blocks * e.in_block,
                              .turns = {{channels, 1}, {blocks, e.in_block}, {passes, in_channels}},
                              .iterations = tiles_of(count, tile_t) * in_channels});
  }

  v = in_xf.args();  // i, t, cb, ex, ey, n
  in_xf.bound_extent(v[0], e.in_block)
      .bound_extent(v[3], e.horizontal.inputs)
      .bound_extent(v[4], e.vertical.inputs)
      .reorder(v[0], v[3], v[4], v[1], v[2], v[5])
      .vectorize(v[0])
      .unroll(v[e.horizontal.unit() ? 4 : 3]);
  const Room room_v = room_for(e, count, e.in_blocks, e.in_block, sheet);
  in_xf.align_storage(v[1], room_v.tiles).align_storage(v[2], room_v.blocks);
  if (by_channels)
    in_xf.compute_root().parallel(v[2]);
  else
    in_xf.compute_at(out, task);
  const Var transform_tile = v[1];
  v = in_rows.args();  // i, p, ey, t, cb, n
  if (!e.vertical.unit() && !e.horizontal.unit())
    in_rows.compute_at(in_xf, transform_tile)
        .bound_extent(v[0], e.in_block)
        .reorder(v[0], v[2], v[1])
        .vectorize(v[0])
        .unroll(v[2]);

  if (const Func* found = anchor_of(kernel).stage("pad")) {
    Func pad = *found;
    const std::vector<Var> p = pad.args();
    if (by_channels)
      pad.compute_root().parallel(p[3]);
    else
      pad.compute_at(out, task);
    pad.bound_extent(p[0], e.in_block).vectorize(p[0]);
  }
  schedule_feeders(kernel, sheet);
}

}  // namespace

const ScheduleTemplate& template_conv_winograd() {
  static const ScheduleTemplate def = {
      .name = "conv_winograd",
      .doc =
          "Winograd convolution on packed channels: transforms and matrix products, by rows of tiles or by "
          "output channels",
      .refuses = conv_winograd_refuses,
      .default_params = conv_winograd_default_params,
      .candidates = conv_winograd_candidates,
      .apply = conv_winograd_apply,
      .loops = winograd_loops,
      .transforms_tiles = true,
  };
  return def;
}

}  // namespace baton
