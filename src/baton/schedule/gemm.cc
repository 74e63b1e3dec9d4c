// Matrix products with packed weights (nn.contrib_dense_pack): a tile of rows x output features is
// accumulated in registers. The weights of a few blocks of features, a panel, are used by all tiles of rows;
// while these are computed, the next panel is fetched from memory. With a single row the product is memory
// bound: the weights are read once, in long streams.
#include <algorithm>

#include "baton/schedule/common.h"
#include "baton/schedule/kernel_choice.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::Var;

struct GemmExtents {
  int rows, blocks, block;     ///< rows: along the innermost of their axes
  int depth;                   ///< steps of a sum
  int units;                   ///< the last block may have fewer features than its weights
  int together;                ///< terms in a step: 1, or those of integers that one instruction sums
  bool pairs;                  ///< they are summed in pairs first, in int16
  int weight_size, data_size;  ///< bytes of an element
  int64_t row_bytes() const { return int64_t(depth) * together * data_size; }
};

GemmExtents gemm_extents_of(const LoweredKernel& kernel) {
  const Tensor& weight = anchor_of(kernel).inputs[1];
  return {result_extent(kernel, -2),
          static_cast<int>(weight.extent(0)),
          static_cast<int>(weight.extent(2)),
          static_cast<int>(weight.extent(1)),
          result_extent(kernel, -1),
          weight.rank() == 5   ? 4
          : weight.rank() == 4 ? static_cast<int>(weight.extent(3))
                               : 1,
          weight.rank() == 5,
          halide_type(weight.dtype()).bytes(),
          halide_type(anchor_of(kernel).inputs[0].dtype()).bytes()};
}

/// The bytes of the weights of `blocks` blocks of features.
int64_t weight_bytes(const GemmExtents& e, int blocks) {
  return int64_t(blocks) * e.block * e.depth * e.together * e.weight_size;
}

/// A prefetch for each vector of weights costs little beside the products of so many rows.
constexpr int kManyRows = 8;
/// With fewer rows only panels of sums up to this length are fetched ahead: where one panel ends and the next
/// begins, the processor's own prefetchers start anew, and the longer a panel is the less that matters.
constexpr int kShortSum = 1024;

bool is_streamed(const GemmExtents& e, const DeviceSheet& sheet) {
  return weight_bytes(e, e.blocks) > sheet.l2_bytes;
}

/// Rows that the epilogue keeps on several axes (join_rows.h): loops around the tiles.
bool has_outer_rows(const LoweredKernel& kernel) {
  for (int axis = output_of(kernel).dimensions() - 3; axis >= 0; --axis)
    if (result_extent(kernel, axis) != 1) return true;
  return false;
}

/// Whether the next panel is fetched while one is used: the weights come from behind the second-level cache.
bool streams_panels(const GemmExtents& e, RegisterTile tile, const DeviceSheet& sheet) {
  return is_streamed(e, sheet) && tile.columns < e.blocks && (e.rows >= kManyRows || e.depth <= kShortSum);
}

std::string gemm_refuses(const LoweredKernel& kernel, const DeviceSheet&) {
  const std::string reason = refuses_anchor(kernel, "gemm", "dense", true);
  if (!reason.empty()) return reason;
  return is_float32_or_integers(anchor_of(kernel)) ? "" : "neither float32 nor a sum of integers in int32";
}

/// The bytes between rows that are copied because they conflict in the first-level cache: a line.
constexpr int kLineBytes = 64;

ScheduleParams gemm_default_params(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const GemmExtents e = gemm_extents_of(kernel);
  const int vectors = tiles_of(e.block, sheet.float_lanes);
  if (e.rows < kFewestGemmRows) {  // memory bound: few streams, which the prefetchers can follow
    const int columns = std::clamp(4 / vectors, 1, e.blocks);
    return {{"tile_m", e.rows}, {"tile_n", columns}, {"unroll", 4}, {"copy_rows", 0}, {"stream", 0}};
  }
  // What is fetched ahead arrives during so many passes over a panel; in fewer the first one waits for it.
  constexpr int kPasses = 8;
  const bool waits = is_streamed(e, sheet) && tiles_of(e.rows, kFewestGemmRows) < kPasses;
  TiledProduct product{e.rows, e.blocks, vectors, e.depth, waits, e.row_bytes()};
  product.most_open_sums = result_dim(kernel, -2).is_symbolic() ? kMostOpenSums : 0;
  product.product_registers = e.pairs ? 2 : e.together > 1 ? 1 : 0;
  const std::vector<int> lengths = lengths_of(kernel, result_dim(kernel, -2));
  RegisterTile tile = choose_register_tile(product, sheet, TileColumns::kAny, lengths);
  const double in_place = register_tile_cost(product, tile, sheet);
  // Rows that conflict in the cache limit the rows of a tile. A copy whose rows lie a line further apart
  // permits any tile; it costs about half a cycle per element.
  product.row_bytes = e.row_bytes() + kLineBytes;
  const RegisterTile free_tile = choose_register_tile(product, sheet, TileColumns::kAny, lengths);
  const bool copy =
      register_tile_cost(product, free_tile, sheet) + 0.5 / (double(e.blocks) * vectors) < in_place;
  if (copy) tile = free_tile;
  const bool stream = !has_outer_rows(kernel) && streams_panels(e, tile, sheet);
  return {{"tile_m", tile.rows},
          {"tile_n", tile.columns},
          {"unroll", stream && e.rows < kManyRows ? 4
                     : sheet.float_lanes < 16     ? 2
                                                  : 1},
          {"copy_rows", copy},
          {"stream", stream}};
}

std::vector<ScheduleParams> gemm_candidates(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const GemmExtents e = gemm_extents_of(kernel);
  const int vectors = tiles_of(e.block, sheet.float_lanes);
  std::vector<ScheduleParams> all{gemm_default_params(kernel, sheet)};
  for (int m : {1, 2, 4, 6, 8, 12, 14})
    for (int n : {1, 2, 3, 4, 8, 16})
      for (int unroll : {1, 2, 4}) {
        if (m > e.rows || n > e.blocks || unroll > e.depth || m * n * vectors > sheet.vector_registers - 3)
          continue;
        ScheduleParams params = {{"tile_m", m},
                                 {"tile_n", n},
                                 {"unroll", unroll},
                                 {"copy_rows", 0},
                                 {"stream", !has_outer_rows(kernel) && streams_panels(e, {m, n}, sheet)}};
        if (rows_conflict(m, e.row_bytes(), sheet)) params["copy_rows"] = 1;
        if (params != all.front()) all.push_back(std::move(params));
      }
  return all;
}

void gemm_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  const GemmExtents e = gemm_extents_of(kernel);
  const int tile_m = std::min(params.at("tile_m"), e.rows), tile_n = std::min(params.at("tile_n"), e.blocks);
  const bool ragged = e.units % e.block != 0;
  const RowTiles rows(kernel, result_dim(kernel, -2), tile_m);
  Func out = output_of(kernel), dense = anchor_stage(kernel, "dense");
  const std::vector<Var> axes = out.args();  // the innermost first
  const Var x = axes[0], y = axes[1];
  const Var block("block"), lane("lane"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

  std::vector<Halide::VarOrRVar> order{lane, xi, yi, yo};
  order.insert(order.end(), axes.begin() + 2, axes.end());
  order.emplace_back(xo);
  out.split(x, block, lane, e.block, ragged ? Halide::TailStrategy::Predicate : Halide::TailStrategy::RoundUp)
      .split(block, xo, xi, tile_n, inside(e.blocks, tile_n));
  rows.split(out, y, yo, yi);
  out.reorder(order).vectorize(lane).unroll(xi).parallel(xo);

  const std::vector<Var> d = dense.args();  // o, ob, rows
  const RVar together(dense.rvars().front().name()), r(dense.rvars().back().name());
  dense.compute_at(out, yo)
      .bound_extent(d[0], e.block)
      .bound_extent(d[1], tile_n)
      .vectorize(d[0])
      .unroll(d[1]);
  dense.update().reorder({d[0], d[1], d[2], r}).vectorize(d[0]).unroll(d[1]);
  rows.write_out(dense, d[2]);
  const int unroll = std::clamp(params.at("unroll"), 1, e.depth), tiles = tiles_of(e.rows, tile_m),
            steps = tiles_of(e.depth, unroll);
  const RVar ro("ro"), ri("ri");
  dense.update().split(r, ro, ri, unroll).reorder(d[0], d[1], d[2], ri, ro).unroll(ri);
  if (e.together > 1) sum_neighbours(dense, together, d[0], d[1], e.block);
  if (params.at("stream")) {
    const LoopRef sum{dense.name(), 1, ro.name()}, rows{out.name(), 0, yo.name()};
    kernel.streams.push_back({.array = input_name(anchor_of(kernel).inputs[1]),
                              .issue = sum,
                              .ahead = {out.name(), 0, xo.name()},
                              .bytes = weight_bytes(e, tile_n),
                              .turns = {{sum, 1}, {rows, steps}},
                              .iterations = int64_t(steps) * tiles});
  }
  if (params.at("copy_rows")) {
    Func left = anchor_stage(kernel, "left");
    const std::vector<Var> l = left.args();  // k, y
    const int length = e.depth * e.together, lanes = std::min(length, lanes_of(left.types().front(), sheet));
    left.compute_root()
        .align_storage(l[0], length + kLineBytes / e.data_size)
        .vectorize(l[0], lanes, inside(length, lanes))
        .parallel(l[1], tile_m, rows.tail());
  }
  schedule_feeders(kernel, sheet);
}

LoopCounts gemm_loops(const LoopsOf& of, const ScheduleParams& params) {
  LoopCounts counts = product_loops(of, loop_param(params, "tile_m"), loop_param(params, "tile_n"));
  counts.row_step = counts.rows;
  return counts;
}

}  // namespace

const ScheduleTemplate& template_gemm() {
  static const ScheduleTemplate def = {
      .name = "gemm",
      .doc = "matrix product with packed weights, sums of a tile of rows x features in registers",
      .refuses = gemm_refuses,
      .default_params = gemm_default_params,
      .candidates = gemm_candidates,
      .apply = gemm_apply,
      .loops = gemm_loops,
  };
  return def;
}

}  // namespace baton
