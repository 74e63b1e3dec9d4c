#pragma once
// What the schedule templates share. For .cc files of schedule only.
#include <initializer_list>
#include <string_view>

#include "baton/schedule/template.h"

namespace baton {

/// The smallest multiple of `step` that is not below `extent`, divided by `step`.
inline int tiles_of(int extent, int step) { return (extent + step - 1) / step; }
/// The largest divisor of `extent` that is at most `limit`; >= 1.
int divisor_below(int extent, int limit);
/// Ascending.
std::vector<int> divisors(int extent);

/// float32 lanes' worth of elements of `type`: what one vector register holds.
int lanes_of(Halide::Type type, const DeviceSheet& sheet);

/// For loops of the output, which must not leave it: the last tile steps back onto its neighbour. The extent
/// must not be below the factor.
inline Halide::TailStrategy inside(int extent, int factor) {
  return extent % factor == 0 ? Halide::TailStrategy::RoundUp : Halide::TailStrategy::ShiftInwards;
}
/// For loops of the output that are split into tiles larger than it, too.
inline Halide::TailStrategy guarded(int extent, int factor) {
  return extent % factor == 0 ? Halide::TailStrategy::RoundUp : Halide::TailStrategy::GuardWithIf;
}

/// The anchor's block; only when there is one.
inline const OpBlock& anchor_of(const LoweredKernel& kernel) { return kernel.blocks.at(kernel.anchor); }
/// The kernel's only output.
inline Halide::Func output_of(const LoweredKernel& kernel) { return kernel.outputs.front().func(); }

/// Extent of the anchor's result along `axis`.
int result_extent(const LoweredKernel& kernel, int axis);
/// The stage of that name of the anchor; an InternalError when it has none.
Halide::Func anchor_stage(const LoweredKernel& kernel, const std::string& name);

/// What all templates with an anchor need: its block names template `of_template`, it has stage `stage` and
/// works on float32, there is one output, of the anchor's shape, and what lies between them works element by
/// element. Empty, or why not.
std::string refuses_anchor(const LoweredKernel& kernel, std::string_view of_template,
                           const std::string& stage);

/// Schedules the blocks whose values the anchor reads. Those that only its stage "pad" reads are left to be
/// computed there, element by element; others get loops of their own before everything else.
void schedule_feeders(LoweredKernel& kernel, const DeviceSheet& sheet);

/// Fetches what `reader` reads of input `from` ahead of time, `distance` steps of loop `loop`, one cache line
/// a step: in address order, also beyond the end of the loop, where the next turn begins (a prefetch never
/// faults). Nothing when `from` is computed in the kernel. A step must read one line: Halide 21 splits larger
/// regions wrongly (every 4th line).
void prefetch_ahead(Halide::Stage reader, const Tensor& from, const Halide::RVar& loop, int distance);

/// Loops of its own for `func`: vectors along the innermost dimension, threads along the outermost.
void schedule_flat(Halide::Func func, const DeviceSheet& sheet, bool parallel = true);

/// Tile sizes for sums held in registers: rows x columns of vectors, where a column is a weight vector that
/// all rows share and a row is a scalar that all columns share.
struct RegisterTile {
  int rows = 1, columns = 1;
};
/// The product that is tiled: `rows` x `columns` results of `vectors` registers each, sums of `depth` terms.
struct TiledProduct {
  int rows = 1, columns = 1, vectors = 1, depth = 1;
  bool streamed =
      false;  ///< the weights come from memory; each further pass over the rows reads them from cache
};
/// Expected cycles per result with such a tile; what choose_register_tile minimises.
double register_tile_cost(const TiledProduct& product, RegisterTile tile, const DeviceSheet& sheet);
/// The tile with the least expected time; its columns divide those of the product.
RegisterTile choose_register_tile(const TiledProduct& product, const DeviceSheet& sheet);

}  // namespace baton
