#pragma once
// Helpers shared by the schedule templates. For .cc files of schedule only.
#include <initializer_list>
#include <optional>
#include <string_view>

#include "baton/schedule/template.h"

namespace baton {

/// Below this many elements a parallel loop does not pay off.
inline constexpr int64_t kParallelElements = 1 << 14;

/// ceil(extent / step).
inline int tiles_of(int extent, int step) { return (extent + step - 1) / step; }
/// The largest divisor of `extent` that is at most `limit`; >= 1.
int divisor_below(int extent, int limit);
/// All divisors, ascending.
std::vector<int> divisors(int extent);

/// Elements of `type` per vector register.
int lanes_of(Halide::Type type, const DeviceSheet& sheet);

/// Tail strategy for loops of the output, which must not be written out of bounds: the last tile is shifted
/// inwards. Requires extent >= factor.
inline Halide::TailStrategy inside(int extent, int factor) {
  return extent % factor == 0 ? Halide::TailStrategy::RoundUp : Halide::TailStrategy::ShiftInwards;
}
/// The same for loops whose factor may exceed the extent.
inline Halide::TailStrategy guarded(int extent, int factor) {
  return extent % factor == 0 ? Halide::TailStrategy::RoundUp : Halide::TailStrategy::GuardWithIf;
}

/// The same for an extent of `kernel` that may be symbolic: its schedule takes for granted that it is as long
/// as `factor`. `lanes`: of the vectors that the tile consists of.
Halide::TailStrategy inside(LoweredKernel& kernel, Dim extent, int factor, int lanes = 1);
/// The same for loops whose factor may exceed the extent, symbolic or not.
Halide::TailStrategy guarded(Dim extent, int factor);

/// The anchor's block; requires that there is one.
inline const OpBlock& anchor_of(const LoweredKernel& kernel) { return kernel.blocks.at(kernel.anchor); }
/// The kernel's only output.
inline Halide::Func output_of(const LoweredKernel& kernel) { return kernel.outputs.front().func(); }

/// The extent of the anchor's result along `axis`; negative counts from the back.
Dim result_dim(const LoweredKernel& kernel, int axis);
/// The same as a number; of a symbolic one the usual (LoweredKernel::usual_extent): to choose by, not to
/// compute with.
int result_extent(const LoweredKernel& kernel, int axis);
/// Vectors of sums that are written out for tiles of 1 to `rows` rows x `columns` vectors, and how many may
/// be: they take time to compile.
constexpr int open_sums(int rows, int columns) { return rows * (rows + 1) / 2 * columns; }
inline constexpr int kMostOpenSums = 64;

/// Tiles of up to `most` rows of a product's result. Of a symbolic number of rows they are of equal height,
/// as many as are needed and the last one shorter (OpenTile), else of `most` rows, the last one shifted
/// inwards.
class RowTiles {
 public:
  RowTiles(LoweredKernel& kernel, Dim rows, int most);
  /// Splits the axis `rows` of the result into tiles. Before loops over tiles are fused or given away.
  void split(Halide::Func& out, const Halide::Var& rows, const Halide::Var& tile,
             const Halide::Var& row) const;
  /// Writes out the rows of a tile's sums, whose axis is `row`.
  void write_out(Halide::Func& sum, const Halide::Var& row) const;
  /// Of another loop over all rows, in tasks of a tile.
  Halide::TailStrategy tail() const { return tail_; }

 private:
  LoweredKernel& kernel_;
  const int most_;
  const bool open_;
  Halide::Expr size_;
  Halide::TailStrategy tail_;
};

/// Numbers to weigh tiles by: the extent alone, or for a symbolic one, where the schedule is for long ones,
/// several: tiles should fit most lengths.
std::vector<int> lengths_of(const LoweredKernel& kernel, Dim dim);
/// The extents of a tensor as such numbers.
std::vector<int64_t> usual_shape(const LoweredKernel& kernel, const std::vector<Dim>& dims);
/// An expression of a kernel's symbolic extents at the usual ones; nullopt when it has other variables.
std::optional<int64_t> usual_value(const LoweredKernel& kernel, const Halide::Expr& value);
/// The named stage of the anchor; InternalError when there is none.
Halide::Func anchor_stage(const LoweredKernel& kernel, const std::string& name);

/// Refuses kernels with a tensor without elements, which only the trivial schedule supports: tiles and
/// vectors are never longer than an axis, so their lengths would be 0. Returns the reason, or "".
std::string refuses_empty(const LoweredKernel& kernel);

/// The stage with a copy of the anchor's data that its sum reads: "pad", or the pixels that strides leave
/// ("strided"); null when the data are read as they are.
const Halide::Func* stored_data(const OpBlock& anchor);

/// Requirements common to all templates with an anchor: no tensor is empty; its block names template
/// `of_template` and has a stage `stage`; there is one output, of the anchor's shape; the blocks in between
/// are elementwise; unless `any_type`, everything is float32, but a NarrowWeight may be bfloat16. Returns the
/// reason for refusal, or "".
std::string refuses_anchor(const LoweredKernel& kernel, std::string_view of_template,
                           const std::string& stage, bool any_type = false);

/// Schedules the update of `sum` so that one instruction sums the products of neighbours (pmaddwd, vpdpwssd,
/// vpdpbusd): vectors along `lane`, of `lanes`, and within along the reduction variable `neighbours`. Where
/// these are sums of pairs that a Func of their own computes, it is scheduled for pmaddubsw, at `at`.
void sum_neighbours(Halide::Func sum, const Halide::RVar& neighbours, const Halide::Var& lane,
                    const Halide::Var& at, int lanes);

/// Whether a product is of float32, or of integers of up to 16 bits with an int32 result.
bool is_float32_or_integers(const OpBlock& block);

/// Schedules the producers of the anchor's operands. Those used only by its stored_data() are inlined there
/// if it is stored; others get loop nests before everything else.
void schedule_feeders(LoweredKernel& kernel, const DeviceSheet& sheet, bool pad_is_stored = true);

/// The name of the kernel's input that `tensor` is, or "" when it is computed in the kernel.
std::string input_name(const Tensor& tensor);

/// The pure loops of one definition, innermost first.
std::vector<Halide::VarOrRVar> pure_loops(const Halide::Stage& stage);

/// A Func that the fallback schedules store: it gets a loop nest of its own.
struct StoredFunc {
  Halide::Func func;
  int64_t elements = 0;   ///< of the result of its block
  int64_t innermost = 0;  ///< the extent of its last axis; 0: a scalar, or not known
  bool copies_output = false;
  std::optional<Halide::LoopLevel> within = {};  ///< Stage::within
};
/// All of them, producers first: every stage but those of elementwise blocks with one user, which are
/// computed in place.
std::vector<StoredFunc> stored_funcs(const LoweredKernel& kernel);

/// Gives `func` its own loop nest: vectorised along the innermost dimension, parallel along the outermost.
void schedule_flat(Halide::Func func, const DeviceSheet& sheet, bool parallel = true);

/// Joins `loops` of `out`, innermost first, to one loop of `iterations` iterations with `work` units each,
/// run in parallel tasks of at least `least` units, or serially when that makes only one. Returns the loop
/// over single iterations.
///
/// `symbolic`: `iterations` is the usual number, and there may be others: tasks are made in any case.
Halide::Var parallel_tasks(Halide::Func out, const std::vector<Halide::Var>& loops, int64_t iterations,
                           int64_t work, int64_t least, bool symbolic = false);

/// Splits the reduction of `sum` along `r`, of `extent` steps, into up to `vectors` vectors of `lanes`
/// partial results, which are combined at its end; otherwise it is a serial chain. Other reduction loops
/// remain. Of a symbolic extent, steps are as many as usual.
void reduce_in_vectors(LoweredKernel& kernel, Halide::Func sum, const Halide::RVar& r, Dim steps, int vectors,
                       int lanes);

/// A register tile of sums: rows x columns of vectors, where a column is a weight vector shared by all rows
/// and a row is a scalar shared by all columns.
struct RegisterTile {
  int rows = 1, columns = 1;
};
/// The product being tiled: `rows` x `columns` results of `vectors` registers each, sums of `depth` terms.
struct TiledProduct {
  int rows = 1, columns = 1, vectors = 1, depth = 1;
  bool streamed =
      false;  ///< the weights are streamed from memory; further passes over the rows read them from cache
  int64_t row_bytes = 0;      ///< from one row of the left side to the next; 0: they are next to each other
  int64_t sum_length = 0;     ///< terms of a sum that lie in one piece of the packed weights; 0: not told
  bool prefetched = false;    ///< what comes from farther away than the first-level cache is prefetched
  int product_registers = 0;  ///< of products that are added by instructions of their own
  int lanes = 0;              ///< of a vector; 0: of a register
  int whole_columns = 0;      ///< of which tiles consist, where the last column is shorter; 0: all
  int most_open_sums = 0;  ///< tiles are those of RowTiles, of so many open_sums() at most; 0: they are not
};
/// Whether `rows` rows, `row_bytes` apart, conflict in the first-level cache: more of them are mapped to one
/// set than it has ways, so that each line is evicted before the next step reads it again. That is so for
/// tiles of over 8 rows that lie a multiple of 4096 bytes apart.
bool rows_conflict(int rows, int64_t row_bytes, const DeviceSheet& sheet);
/// How many of `rows` rows, `row_bytes` > 0 apart, are mapped to one set of the first-level cache, at most.
int64_t rows_in_one_set(int64_t rows, int64_t row_bytes);
/// Lines of a set of the first-level cache.
int64_t ways_of_l1(const DeviceSheet& sheet);
/// Expected cycles per result for a tile; minimised by choose_register_tile.
double register_tile_cost(const TiledProduct& product, RegisterTile tile, const DeviceSheet& sheet);
/// Whether the columns of a tile divide those of the product, or the last tile overlaps the one before.
enum class TileColumns { kDivide, kAny };
/// The tile with the lowest expected cost; with several `lengths`, of all products with so many rows.
RegisterTile choose_register_tile(const TiledProduct& product, const DeviceSheet& sheet,
                                  TileColumns columns = TileColumns::kDivide,
                                  const std::vector<int>& lengths = {});

}  // namespace baton
