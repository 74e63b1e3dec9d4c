// Transposed convolution by phases (ops/nn/conv/conv_transpose_phases.cc). A task computes all phases of some
// rows of results for some channels. Its sums lie in the first-level cache; for each tap, a tile of positions
// x channels is held in registers over all input channels. So the weights of a tap are read from the cache
// for all tiles but the first, and the rows of taps above or below the data are skipped.
//   packed channels: vectors of channels; the tile has `tile_x` positions x `tile_c` blocks of channels
//   plain (NCHW):    vectors of positions; the tile has `tile_x` vectors x `tile_c` channels
#include <algorithm>
#include <bit>

#include "baton/ir/inspect.h"
#include "baton/schedule/common.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

/// Sums of a reduction of fewer input channels are kept in registers over the taps, too.
constexpr int kShallowDepth = 8;
/// Tiles of a row that share the weights of a tap in the first-level cache, at least.
constexpr int kRowTiles = 4;

/// Spatial axes are in Halide's order: 0 is the last one of Relay.
struct TransposeExtents {
  int count = 0, batch = 1;
  bool packed = false, depthwise = false, exact = false;
  int out_block = 1, blocks = 1;  ///< channels per block; blocks of channels of one group
  int groups = 1, depth = 1;      ///< depth: input channels of a group
  std::vector<int> stride, extent, positions;
  int64_t weight_bytes = 4, data_bytes = 4;
};

TransposeExtents transpose_extents_of(const LoweredKernel& kernel) {
  const OpBlock& anchor = anchor_of(kernel);
  const Tensor &data = anchor.inputs[0], &weight = anchor.inputs[1];
  const std::vector<int64_t> strides = ints_attr(*anchor.call, "strides");
  TransposeExtents e;
  e.count = static_cast<int>(strides.size());
  e.packed = data.rank() == e.count + 3;
  e.batch = result_extent(kernel, 0), e.blocks = result_extent(kernel, 1);
  if (e.packed) e.out_block = result_extent(kernel, e.count + 2);
  e.groups = static_cast<int>(int_attr(*anchor.call, "groups"));
  e.depth = static_cast<int>(data.extent(1) * (e.packed ? data.extent(-1) : 1)) / e.groups;
  e.depthwise = e.groups > 1 && e.depth == 1 && e.groups == e.blocks * e.out_block;
  if (!e.depthwise) e.blocks /= e.groups;
  e.exact = !anchor.stage("pad");
  for (int axis = e.count; axis-- > 0;) {
    e.stride.push_back(static_cast<int>(strides[axis]));
    e.extent.push_back(result_extent(kernel, 2 + axis));
    e.positions.push_back(tiles_of(e.extent.back(), e.stride.back()));
  }
  for (int64_t extent : weight.shape()) e.weight_bytes *= extent;
  for (const Dim extent : data.dims()) e.data_bytes *= kernel.usual_extent(extent);
  return e;
}

std::string conv_transpose_refuses(const LoweredKernel& kernel, const DeviceSheet&) {
  const std::string reason = refuses_anchor(kernel, "conv_transpose", "phases");
  if (!reason.empty()) return reason;
  return anchor_stage(kernel, "phases").has_update_definition() ? "" : "no tap meets an element of the data";
}

/// The positions that each tap of the last axis is summed at, for rows of `row` positions.
std::vector<int> ranges_of(const LoweredKernel& kernel, const TransposeExtents& e, int row) {
  if (!e.exact) return {row};
  std::vector<int> ranges;
  Func sum = anchor_stage(kernel, "phases");
  for (int update = 0; update < sum.num_update_definitions(); ++update) {
    const auto& r = sum.update(update).get_schedule().rvars().at(2);
    ranges.push_back(static_cast<int>(Halide::Internal::as_const_int(r.extent).value()));
  }
  return ranges;
}

/// Whether tiles of `c` blocks of channels are possible: those of a group must not reach into the next one.
bool is_channel_tile(const TransposeExtents& e, int c) {
  if (e.depthwise) return c == 1;
  return c <= e.blocks && (e.groups == 1 || e.blocks % c == 0);
}

/// `range` in equal steps of at most `most`.
int even_step(int range, int most) { return tiles_of(range, tiles_of(range, most)); }

/// Expected cycles of one step of the reduction over all positions of the taps, per block of channels.
double row_cost(const std::vector<int>& ranges, const TransposeExtents& e, RegisterTile tile, int vectors,
                const DeviceSheet& sheet) {
  // Narrow vectors have no broadcasting multiply-add, and two of them go with two loads.
  const double loads_per_load = sheet.float_lanes < 16 ? 1 : 0.5;
  // Cycles for a vector of weights from the second-level cache or from behind it.
  const double weight_load = e.weight_bytes > sheet.l2_bytes       ? 4
                             : e.weight_bytes > sheet.l1_bytes / 2 ? 2
                                                                   : loads_per_load;
  auto cost = [&](int rows) {
    const TiledProduct product{rows, tile.columns, vectors, 1};
    const double weights = tile.columns * vectors, loads = loads_per_load * rows + weight_load * weights + 1;
    return std::max(register_tile_cost(product, {rows, tile.columns}, sheet) * rows, loads / weights);
  };
  double total = 0;
  for (const int range : ranges) {
    const int step = even_step(range, tile.rows);
    if (e.exact)
      total += range / step * cost(step) + (range % step ? cost(range % step) : 0);
    else
      total += tiles_of(range, step) * cost(step);
  }
  return total;
}

ScheduleParams conv_transpose_default_params(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const TransposeExtents e = transpose_extents_of(kernel);
  const int vectors = e.packed ? tiles_of(e.out_block, sheet.float_lanes) : 1;
  // Positions, or vectors of positions, of a row.
  const int lanes = e.packed ? 1 : sheet.float_lanes, steps = tiles_of(e.positions[0], lanes);
  int tile_x = 1, tile_c = 1;
  double least = 1e300;
  const std::vector<int> ranges = ranges_of(kernel, e, steps);
  for (int c = 1; c * vectors <= sheet.vector_registers / 2; ++c) {
    if (!is_channel_tile(e, c)) continue;
    // The last tile of channels overlaps the one before.
    const double lost = double(tiles_of(e.blocks, c) * c) / e.blocks;
    for (int x = 1; x <= std::min(steps, sheet.vector_registers); ++x) {
      const double cost = row_cost(ranges, e, {x, c}, vectors, sheet) * lost;
      if (cost < least) least = cost, tile_x = x, tile_c = c;
    }
  }
  // As many positions and rows as half of the first-level cache holds the sums of.
  int64_t bytes = int64_t(tile_c) * e.out_block * 4;
  for (int stride : e.stride) bytes *= stride;
  const int64_t held = sheet.l1_bytes / 2 / bytes;
  int row = e.positions[0];
  if (!e.exact && row > held) {
    const int tile = tile_x * lanes, most = static_cast<int>(std::max<int64_t>(held / tile, kRowTiles));
    row = std::min(row, even_step(tiles_of(row, tile), most) * tile);
  }
  const int height = e.count > 1 ? e.positions[1] : 1;
  const int tasks = e.batch * e.groups * tiles_of(e.blocks, tile_c) * tiles_of(e.positions[0], row);
  // Two rows at least, if the next cache holds them: they read the same data.
  const bool two = row * bytes * 2 <= sheet.l2_bytes / 4;
  int rows = static_cast<int>(std::clamp<int64_t>(held / row, std::min(two ? 2 : 1, height), height));
  while (rows > 1 && tasks * tiles_of(height, rows) < 4) rows = (rows + 1) / 2;
  rows = even_step(height, rows);
  // As in conv_direct: what is read once, and what once per step of the other.
  const bool rows_outer = e.weight_bytes <= sheet.l2_bytes / 2 &&
                          e.weight_bytes * tiles_of(height, rows) < e.data_bytes * tiles_of(e.blocks, tile_c);
  return {{"tile_x", tile_x}, {"tile_c", tile_c},         {"row", row},
          {"rows", rows},     {"rows_outer", rows_outer}, {"taps_inner", e.depth < kShallowDepth}};
}

std::vector<ScheduleParams> conv_transpose_candidates(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const TransposeExtents e = transpose_extents_of(kernel);
  const int vectors = e.packed ? tiles_of(e.out_block, sheet.float_lanes) : 1;
  std::vector<ScheduleParams> all{conv_transpose_default_params(kernel, sheet)};
  for (int c : {1, 2, 3, 4, 8})
    for (int x : {1, 2, 3, 4, 6, 8, 12, 14})
      for (int rows : {1, 2, 4, 8}) {
        if (!is_channel_tile(e, c) || x > all.front().at("row") ||
            (x * c + c) * vectors >= sheet.vector_registers || rows > (e.count > 1 ? e.positions[1] : 1))
          continue;
        ScheduleParams params = all.front();
        params["tile_x"] = x, params["tile_c"] = c, params["rows"] = rows;
        if (params != all.front()) all.push_back(std::move(params));
      }
  return all;
}

/// The loops of the result: positions of its phases in blocks of `block` (per axis), tiles of channels.
/// Returns the fused loop over all blocks: one task each.
Var schedule_result(Func out, const TransposeExtents& e, const std::vector<int>& block, int tile_c,
                    bool rows_outer, const DeviceSheet& sheet) {
  const std::vector<Var> i = out.args();
  const int first = e.packed ? 1 : 0;
  const Var channel = i[first + e.count], batch = i[first + e.count + 1];
  const Var co("co"), ci("ci"), lane("lane");
  std::vector<VarOrRVar> order;  // inside a task, innermost first
  std::vector<Var> tasks;
  out.split(channel, co, ci, tile_c, inside(e.depthwise || e.groups > 1 ? tile_c : e.blocks, tile_c));
  if (e.packed) order.insert(order.end(), {i[0], ci});
  for (int d = 0; d < e.count; ++d) {
    const std::string name = std::to_string(d);
    Var q = i[first + d];
    const Var position("at" + name), phase("phase" + name), outer("outer" + name), inner("inner" + name),
        vector("vector" + name);
    if (e.stride[d] > 1) {
      out.split(q, position, phase, e.stride[d], guarded(e.extent[d], e.stride[d]));
      q = position;
    }
    out.split(q, outer, inner, block[d], inside(e.positions[d], block[d]));
    if (d == 0 && !e.packed) {
      // A power of two: Halide stores the vectors of all phases as one, and LLVM cannot mask the single
      // element that 3 x 11 leaves behind whole registers.
      const int lanes = static_cast<int>(std::bit_floor(unsigned(std::min(sheet.float_lanes, block[0]))));
      out.split(inner, vector, lane, lanes, inside(block[0], lanes)).vectorize(lane);
      order.push_back(lane);
      if (e.stride[d] > 1) order.push_back(phase);
      order.push_back(vector);
    } else {
      if (e.stride[d] > 1) order.push_back(phase);
      order.push_back(inner);
    }
    if (d == 0 && e.stride[d] > 1 && e.stride[d] <= 4) out.unroll(phase);
    tasks.push_back(outer);
  }
  if (e.packed)
    out.vectorize(i[0]).unroll(ci);
  else
    order.push_back(ci);
  tasks.insert(rows_outer ? tasks.begin() : tasks.end(), co);
  tasks.push_back(batch);
  order.insert(order.end(), tasks.begin(), tasks.end());
  out.reorder(order);
  Var task = tasks.front();
  for (size_t t = 1; t < tasks.size(); ++t) {
    const Var fused("task" + std::to_string(t));
    out.fuse(task, tasks[t], fused);
    task = fused;
  }
  out.parallel(task);
  return task;
}

/// The loops of one update of the sums: a tile in registers, then channels, then (unless `taps_inner`) the
/// tiles of all rows, then taps and phases.
void schedule_update(Func sum, int update, const TransposeExtents& e, const ScheduleParams& params,
                     const DeviceSheet& sheet) {
  Halide::Stage stage = sum.update(update);
  const std::vector<Var> args = sum.args();
  const int first = e.packed ? 1 : 0;
  std::vector<RVar> r;
  for (const auto& rvar : stage.get_schedule().rvars()) r.emplace_back(rvar.var);
  const int depths = e.packed ? (e.depthwise ? 0 : 2) : 1;
  const Var channel = args[first + 2 * e.count];
  const int tile_x = params.at("tile_x");
  std::vector<VarOrRVar> tile, tiles;
  if (e.exact) {
    const RVar outer("rxo"), inner("rxi");
    const int range =
        static_cast<int>(Halide::Internal::as_const_int(stage.get_schedule().rvars().at(2).extent).value());
    stage.split(r[2], outer, inner, even_step(range, tile_x), TailStrategy::GuardWithIf).unroll(inner);
    tile = {args[0], channel, inner}, tiles = {outer};
    r.erase(r.begin() + 2);
  } else {
    const Var outer("xo"), inner("xi"), lane("lane");
    if (e.packed) {
      stage.split(args[first], outer, inner, tile_x).unroll(inner);
      tile = {args[0], channel, inner};
    } else {
      const Var lanes("lanes");
      stage.split(args[0], lanes, lane, sheet.float_lanes)
          .split(lanes, outer, inner, tile_x)
          .vectorize(lane)
          .unroll(inner);
      tile = {lane, channel, inner};
    }
    tiles = {outer};
  }
  if (e.packed) stage.vectorize(args[0]);
  stage.unroll(channel);
  for (int d = 1; d < e.count; ++d) tiles.push_back(args[first + d]);
  std::vector<VarOrRVar> order = tile;
  order.insert(order.end(), r.begin(), r.begin() + depths);
  std::vector<VarOrRVar> taps(r.begin() + depths, r.end());
  const bool taps_inner = params.at("taps_inner") && !e.exact;
  for (const auto& loops : taps_inner ? std::vector{taps, tiles} : std::vector{tiles, taps})
    order.insert(order.end(), loops.begin(), loops.end());
  for (int d = e.exact ? 1 : 0; d < e.count; ++d) order.push_back(args[first + e.count + d]);
  stage.reorder(order);
}

void conv_transpose_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  const TransposeExtents e = transpose_extents_of(kernel);
  ScheduleParams used = params;
  int tile_c = std::min(params.at("tile_c"), e.blocks);
  if (!is_channel_tile(e, tile_c)) tile_c = divisor_below(e.depthwise ? 1 : e.blocks, tile_c);
  std::vector<int> block(e.count, 1);
  block[0] = e.exact ? e.positions[0] : std::min(params.at("row"), e.positions[0]);
  if (e.count > 1) block[1] = std::min(params.at("rows"), e.positions[1]);
  const int steps = e.packed ? block[0] : tiles_of(block[0], sheet.float_lanes);
  used["tile_x"] = e.exact ? params.at("tile_x") : even_step(steps, std::min(params.at("tile_x"), steps));

  Func sum = anchor_stage(kernel, "phases"), out = output_of(kernel);
  const Var task = schedule_result(out, e, block, tile_c, params.at("rows_outer"), sheet);
  const std::vector<Var> args = sum.args();
  const int first = e.packed ? 1 : 0;
  sum.compute_at(out, task);
  if (e.packed) sum.bound_extent(args[0], e.out_block).vectorize(args[0]);
  for (int d = 0; d < e.count; ++d) {
    int extent = block[d];
    // Tiles are whole, also where the row ends inside one.
    if (d == 0 && !e.exact) {
      const int step = used.at("tile_x") * (e.packed ? 1 : sheet.float_lanes);
      extent = tiles_of(extent, step) * step;
    }
    sum.bound_extent(args[first + d], extent).bound_extent(args[first + e.count + d], e.stride[d]);
  }
  sum.bound_extent(args[first + 2 * e.count], tile_c).bound_extent(args[first + 2 * e.count + 1], 1);
  if (!e.packed) sum.vectorize(args[0], sheet.float_lanes);
  for (int update = 0; update < sum.num_update_definitions(); ++update)
    schedule_update(sum, update, e, used, sheet);

  if (const Func* found = anchor_of(kernel).stage("pad")) {
    Func pad = *found;
    const std::vector<Var> p = pad.args();
    // Channels next to rows: planes a power of two apart would share the sets of the caches.
    std::vector<Var> storage(p.begin(), p.begin() + first + 1);
    storage.push_back(p[first + e.count]);
    storage.insert(storage.end(), p.begin() + first + 1, p.begin() + first + e.count);
    storage.push_back(p.back());
    pad.compute_root().reorder_storage(storage).parallel(p[first + e.count]);
    if (e.packed)
      pad.vectorize(p[0]);
    else
      pad.align_bounds(p[0], sheet.float_lanes).vectorize(p[0], sheet.float_lanes);
  }
  schedule_feeders(kernel, sheet);
}

LoopCounts conv_transpose_loops(const LoopsOf& of, const ScheduleParams& params) {
  const Extents& e = of.extents;
  LoopCounts counts = pixel_loops(of, params);
  const double tile_x = loop_param(params, "tile_x"), tile_c = loop_param(params, "tile_c"),
               phases = e.stride_w, width = e.out_w / phases;
  // A phase of the result has its own taps.
  counts.depth = std::max(1.0, counts.depth / (e.stride_h * e.stride_w));
  counts.tiles = e.batch * e.out_h * phases;
  if (e.out_block > 1) {
    counts.tiles *= loop_steps(width, tile_x) * loop_steps(of.column_vectors(), tile_c);
  } else {  // vectors of positions
    counts.rows = tile_c, counts.columns = tile_x;
    counts.tiles *= loop_steps(width, tile_x * of.lanes) * loop_steps(e.out, tile_c);
  }
  counts.row_step = loop_param(params, "rows");
  return counts;
}

}  // namespace

const ScheduleTemplate& template_conv_transpose() {
  static const ScheduleTemplate def = {
      .name = "conv_transpose",
      .doc = "transposed convolution by phases, sums of a tile of positions x channels in registers",
      .refuses = conv_transpose_refuses,
      .default_params = conv_transpose_default_params,
      .candidates = conv_transpose_candidates,
      .apply = conv_transpose_apply,
      .loops = conv_transpose_loops,
  };
  return def;
}

}  // namespace baton
