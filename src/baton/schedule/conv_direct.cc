// Direct convolution on packed channels (NCHW16c): a tile of pixels x output channels is accumulated in
// registers over all taps and input channels; fused consumers work on the finished tile. Channels must be the
// innermost unrolled loop: with pixels inside, LLVM keeps a broadcast per pixel alive and spills.
#include <algorithm>

#include "baton/ops/shared/conv_attrs.h"
#include "baton/schedule/common.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::Var;

/// Tasks to divide a kernel into: enough for the cores of a large processor to end together.
constexpr int kTasks = 32;
/// Tiles of a task that are worth it.
constexpr int kLeastTiles = 4;

struct ConvExtents {
  int batch, out_blocks, height, width, out_block, in_blocks, in_block, taps, kernel_width;
  int64_t weight_bytes, data_bytes;
  /// Channels whose products one instruction sums: 1, or those of integers that lie next to each other.
  int together;
  bool pairs;                  ///< they are summed in pairs first, in int16
  int weight_size, data_size;  ///< bytes of an element
  /// Steps of the sum over a block of input channels.
  int steps() const { return in_block / together; }
  /// A loop of few steps would consist of branches that are mispredicted.
  int unrolled() const { return in_block < 8 || pairs ? steps() : 1; }
  /// Registers beside sums, weights and broadcast data: products that another instruction adds, and for pairs
  /// the ones that add them up. With two free ones more, four pixels are faster than five (98 and 95 % of the
  /// peak of an AVX2 processor).
  int product_registers() const { return pairs ? 4 : together > 1 ? 1 : 0; }
  /// All pixels are one row (codegen/kernel/join_rows.h), and each is read once per channel: there are no
  /// rows to make tasks of, and none to end tiles at.
  bool one_row() const { return height == 1 && taps == 1; }
};

ConvExtents conv_direct_extents_of(const LoweredKernel& kernel) {
  const Tensor &data = anchor_of(kernel).inputs[0], &weight = anchor_of(kernel).inputs[1];
  ConvExtents e;
  e.batch = result_extent(kernel, 0), e.out_blocks = result_extent(kernel, 1);
  e.height = result_extent(kernel, 2), e.width = result_extent(kernel, 3),
  e.out_block = result_extent(kernel, 4);
  e.in_blocks = static_cast<int>(data.extent(1)), e.in_block = static_cast<int>(data.extent(4));
  e.kernel_width = static_cast<int>(weight.extent(3));
  e.taps = static_cast<int>(weight.extent(2)) * e.kernel_width;
  e.pairs = weight.rank() == 8;
  e.together = e.pairs ? 4 : weight.rank() == 7 ? static_cast<int>(weight.extent(6)) : 1;
  e.weight_size = halide_type(weight.dtype()).bytes(), e.data_size = halide_type(data.dtype()).bytes();
  e.weight_bytes = e.weight_size, e.data_bytes = e.data_size;
  for (int64_t extent : weight.shape()) e.weight_bytes *= extent;
  for (int64_t extent : usual_shape(kernel, data.dims())) e.data_bytes *= extent;
  return e;
}

std::string conv_direct_refuses(const LoweredKernel& kernel, const DeviceSheet&) {
  const std::string reason = refuses_anchor(kernel, "conv_direct", "conv2d", true);
  if (!reason.empty()) return reason;
  if (!is_float32_or_integers(anchor_of(kernel))) return "neither float32 nor a sum of integers in int32";
  // The sums of groups and of other layouts have other loops (conv2d_compute).
  const Func sum = anchor_stage(kernel, "conv2d");
  return sum.dimensions() == 5 && (sum.rvars().size() == 4 || sum.rvars().size() == 5)
             ? ""
             : "the convolution has groups, or its layouts are not NCHW{i}c and OIHW{i}i{o}o";
}

int conv_direct_vectors_of(int block, const DeviceSheet& sheet) { return tiles_of(block, sheet.float_lanes); }

ScheduleParams conv_direct_default_params(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const ConvExtents e = conv_direct_extents_of(kernel);
  const int vectors = conv_direct_vectors_of(e.out_block, sheet);
  int tile_x = 1, tile_y = 1, tile_c = 1;
  double least = 1e300;
  // A short reduction over few channels is unrolled, since the loop overhead would dominate. LLVM then needs
  // one more register, or it spills.
  const int unroll = e.unrolled();
  // Of a symbolic height, no tile needs more than one row.
  const int most_rows = result_dim(kernel, 2).is_symbolic() ? 1 : 2;
  for (int c = 1; c <= e.out_blocks && c * vectors <= sheet.vector_registers / 2; ++c) {
    for (int y = 1; y <= std::min(most_rows, e.height); ++y)
      for (int x = 1; x <= std::min(e.width, sheet.vector_registers); ++x) {
        if (unroll > 1 && (x * y + 1) * c * vectors + 1 + e.product_registers() > sheet.vector_registers)
          break;
        // The last tile along an axis overlaps its neighbour, which is redundant work.
        const auto covered = [](int extent, int size) {
          return double(tiles_of(extent, size) * size) / extent;
        };
        const double lost = covered(e.width, x) * covered(e.height, y) * covered(e.out_blocks, c);
        TiledProduct product{x * y, c, vectors, e.steps()};
        product.lanes = e.out_block;
        product.sum_length = int64_t{e.in_blocks} * e.steps() * e.taps;
        product.prefetched = e.one_row();
        product.product_registers = e.product_registers();
        // LLVM unrolls a loop of two tiles and then spills.
        const double cost = register_tile_cost(product, {x * y, c}, sheet) * lost * (y > 1 ? 1.002 : 1) *
                            (tiles_of(e.width, x) == 2 ? 1.01 : 1);
        if (cost < least) least = cost, tile_x = x, tile_y = y, tile_c = c;
      }
  }
  // Weights that come from memory are read while the block before them is multiplied with all pixels.
  const bool streamed = e.weight_bytes > sheet.l2_bytes / 2 && tile_c < e.out_blocks;
  if (e.one_row()) {
    const int tiles = tiles_of(e.width, tile_x), blocks = tiles_of(e.out_blocks, tile_c) * e.batch;
    const int wanted = std::clamp(kTasks / blocks, 1, std::max(1, tiles / kLeastTiles));
    // The last stretch of a row overlaps its neighbour, as the last tile does.
    int stretches = 1;
    double fewest = 1e300;
    for (int n = wanted; n <= std::min(tiles, 2 * wanted); ++n)
      if (const double pixels = double(n) * std::min(e.width, tiles_of(tiles, n) * tile_x); pixels < fewest)
        fewest = pixels, stretches = n;
    // Each block of input channels is a page or more from the next one, which no hardware prefetcher follows;
    // few blocks remain in the first-level cache from tile to tile.
    const bool far = int64_t{e.in_blocks} * e.in_block * tile_x * e.data_size >= sheet.l1_bytes / 16;
    return {{"tile_x", tile_x},        {"tile_y", 1},       {"tile_c", tile_c},
            {"rows_outer", 0},         {"unroll", unroll},  {"tiles_x", tiles_of(tiles, stretches)},
            {"prefetch", far ? 1 : 0}, {"stream", streamed}};
  }
  // Rows outside, channels inside: the weights are read once per row of tiles, the data once. In the other
  // order the data are read once per block of channels, and the weights once.
  const double rows = tiles_of(e.height, tile_y), blocks = tiles_of(e.out_blocks, tile_c);
  const bool rows_outer =
      e.weight_bytes <= sheet.l2_bytes / 2 && e.weight_bytes * rows < e.data_bytes * blocks;
  return {{"tile_x", tile_x}, {"tile_y", tile_y},
          {"tile_c", tile_c}, {"rows_outer", rows_outer},
          {"unroll", unroll}, {"tiles_x", tiles_of(e.width, tile_x)},
          {"prefetch", 0},    {"stream", streamed}};
}

std::vector<ScheduleParams> conv_direct_candidates(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const ConvExtents e = conv_direct_extents_of(kernel);
  const int vectors = conv_direct_vectors_of(e.out_block, sheet);
  std::vector<ScheduleParams> all{conv_direct_default_params(kernel, sheet)};
  if (e.one_row()) {
    for (int c : {1, 2, 3, 4})
      for (int x : {4, 5, 6, 7, 8, 12, 14, 28})
        for (int tasks : {1, 4, 16})
          for (int prefetch : {0, 1, 2}) {
            const int sums = x * c * vectors;
            if (c > e.out_blocks || x > e.width ||
                sums + c * vectors + 1 + e.product_registers() > sheet.vector_registers || sums < 7)
              continue;
            ScheduleParams params = all.front();
            params["tile_x"] = x, params["tile_c"] = c, params["prefetch"] = prefetch;
            params["tiles_x"] = tiles_of(tiles_of(e.width, x), tasks);
            if (params != all.front()) all.push_back(std::move(params));
          }
    return all;
  }
  for (int c : {1, 2, 4})
    for (int y : {1, 2})
      for (int x : {4, 6, 7, 8, 12, 14, 28})
        for (int rows_outer : {0, 1}) {
          if (c > e.out_blocks || x > e.width || y > e.height) continue;
          const int sums = x * y * c * vectors;
          if (sums + c * vectors + 1 + e.product_registers() > sheet.vector_registers || sums < 7) continue;
          ScheduleParams params = {{"tile_x", x},
                                   {"tile_y", y},
                                   {"tile_c", c},
                                   {"rows_outer", rows_outer},
                                   {"unroll", e.unrolled()},
                                   {"tiles_x", tiles_of(e.width, x)},
                                   {"prefetch", 0},
                                   {"stream", all.front().at("stream")}};
          if (params != all.front()) all.push_back(std::move(params));
        }
  return all;
}

void conv_direct_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  const ConvExtents e = conv_direct_extents_of(kernel);
  const int tile_x = std::min(params.at("tile_x"), e.width), tile_y = std::min(params.at("tile_y"), e.height);
  const int tile_c = std::min(params.at("tile_c"), e.out_blocks);
  Func out = output_of(kernel), conv = anchor_stage(kernel, "conv2d");
  const std::vector<Var> i = out.args();
  const Var o = i[0], x = i[1], y = i[2], ob = i[3], n = i[4];
  const Var xo("xo"), xi("xi"), xt("xt"), yo("yo"), yi("yi"), obo("obo"), obi("obi"), rows("rows"),
      task("task");

  const int stretch = std::min(e.width, tile_x * std::max(1, params.at("tiles_x")));
  const Dim width = result_dim(kernel, 3), height = result_dim(kernel, 2);
  if (width.is_symbolic()) {
    // Stretches of whole tiles: one that is shifted inwards would need rows as long as it.
    out.split(x, xo, xi, tile_x, inside(kernel, width, tile_x))
        .split(xo, xt, xo, tiles_of(stretch, tile_x), Halide::TailStrategy::GuardWithIf);
  } else {
    out.split(x, xt, x, stretch, inside(e.width, stretch)).split(x, xo, xi, tile_x, inside(stretch, tile_x));
  }
  out.split(y, yo, yi, tile_y, inside(kernel, height, tile_y))
      .split(ob, obo, obi, tile_c, inside(e.out_blocks, tile_c))
      .vectorize(o)
      .unroll(xi)
      .unroll(yi)
      .unroll(obi);
  if (params.at("rows_outer"))
    out.reorder(o, obi, xi, yi, xo, obo, xt, yo, n).fuse(xt, yo, rows).fuse(rows, n, task).parallel(task);
  else
    out.reorder(o, obi, xi, yi, xo, xt, yo, obo, n).fuse(xt, yo, rows).fuse(rows, obo, task).parallel(task);

  const std::vector<Var> c = conv.args();
  std::vector<RVar> r;
  for (const RVar& each : conv.rvars()) r.emplace_back(each.name());
  const RVar together = r.front();
  if (e.together > 1) r.erase(r.begin());
  conv.compute_at(out, xo)
      .bound_extent(c[0], e.out_block)
      // The size must be constant: otherwise the sums are in memory that is allocated for each tile, and
      // written at every step.
      .bound_extent(c[1], tile_x)
      .bound_extent(c[2], tile_y)
      .bound_extent(c[3], tile_c)
      .bound_extent(c[4], 1)
      .vectorize(c[0])
      .unroll(c[1])
      .unroll(c[2])
      .unroll(c[3]);
  conv.update()
      .reorder({c[0], c[3], c[1], c[2], c[4], r[0], r[1], r[2], r[3]})
      .vectorize(c[0])
      .unroll(c[1])
      .unroll(c[2])
      .unroll(c[3]);
  if (e.together > 1) sum_neighbours(conv, together, c[0], c[3], e.out_block);
  const int unroll = std::min(params.at("unroll"), e.steps());
  if (unroll > 1 && e.steps() % unroll == 0) conv.update().unroll(r[0], unroll);

  if (params.at("stream") && !params.at("rows_outer")) {
    const int64_t tiles = tiles_of(stretch, tile_x),
                  stretches = int64_t{tiles_of(e.width, stretch)} * tiles_of(e.height, tile_y);
    const LoopRef channels{conv.name(), 1, r[0].name()}, all{out.name(), 0, task.name()};
    const int64_t steps = e.steps() % unroll ? e.steps() : e.steps() / unroll,
                  sum = steps * e.taps * e.in_blocks;
    kernel.streams.push_back(
        {.array = input_name(anchor_of(kernel).inputs[1]),
         .issue = channels,
         .ahead = all,
         .distance = static_cast<int>(stretches),
         .bytes = int64_t{e.weight_size} * tile_c * e.out_block * e.in_blocks * e.in_block * e.taps,
         .turns = {{channels, 1},
                   {{conv.name(), 1, r[1].name()}, steps},
                   {{conv.name(), 1, r[2].name()}, steps * e.kernel_width},
                   {{conv.name(), 1, r[3].name()}, steps * e.taps},
                   {{out.name(), 0, xo.name()}, sum},
                   {all, sum * tiles, stretches}},
         .iterations = stretches * tiles * sum});
  }
  const Func* stored = stored_data(anchor_of(kernel));
  if (params.at("prefetch")) {
    const LoopRef blocks{conv.name(), 1, r[3].name()};
    kernel.streams.push_back({.array = stored ? stored->name() : input_name(anchor_of(kernel).inputs[0]),
                              .issue = blocks,
                              .ahead = blocks,
                              .distance = params.at("prefetch"),
                              .bytes = int64_t{e.data_size} * tile_x * e.in_block,
                              .level = CacheLevel::kFirst});
  }
  if (stored) {
    Func pad = *stored;
    const std::vector<Var> p = pad.args();
    pad.compute_root().vectorize(p[0]);
    if (e.one_row()) {
      // Row by row of the pixels that the strides leave, or each of them costs a division.
      const auto& strides = attrs_as<Conv2DAttrs>(anchor_of(kernel).call->attrs()).strides;
      const int row = tiles_of(static_cast<int>(anchor_of(kernel).inputs[0].extent(3)), int(strides[1]));
      pad.split(p[1], yo, xi, row);
    }
    if (e.in_blocks > 1)
      pad.parallel(p[3]);
    else
      pad.parallel(p[2], std::min(16, e.height));
  }
  schedule_feeders(kernel, sheet);
}

}  // namespace

const ScheduleTemplate& template_conv_direct() {
  static const ScheduleTemplate def = {
      .name = "conv_direct",
      .doc = "direct convolution on packed channels, sums of a tile of pixels x channels in registers",
      .refuses = conv_direct_refuses,
      .default_params = conv_direct_default_params,
      .candidates = conv_direct_candidates,
      .apply = conv_direct_apply,
      .loops = pixel_loops,
      .usual = {56, 14, 4, 1},  // most images are a multiple of 7 pixels wide, after some halvings
  };
  return def;
}

}  // namespace baton
