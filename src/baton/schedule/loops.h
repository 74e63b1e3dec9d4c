#pragma once
// The loops that schedule templates make, as numbers: how many register tiles, how large, and how many steps
// each. Predictors count with them, of measured kernels and of such that are not made. Does not need Halide.
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "baton/ir/rules/conv_positions.h"
#include "baton/support/function_ref.h"

namespace baton {

/// Named integer parameters of a template: {"tile_x", 14}, {"unroll", 4}.
using ScheduleParams = std::map<std::string, int>;

/// The extents of the heaviest operator, whatever its layout.
struct Extents {
  double batch = 1, in = 1, out = 1, groups = 1;
  double in_h = 1, in_w = 1, out_h = 1, out_w = 1, kernel_h = 1, kernel_w = 1;
  double stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, padding_h = 0, padding_w = 0;
  double reduction = 1, rows = 1, columns = 1, in_block = 1, out_block = 1, inner = 1;
};

/// A convolution by Winograd's algorithm, in tiles of outputs; 0: it is none.
struct WinogradTiles {
  double down = 0, across = 0;  ///< outputs of a tile
  double tiles_down = 0, tiles_across = 0, multiplies = 0;

  double inputs(const Extents& e) const { return (down + e.kernel_h - 1) * (across + e.kernel_w - 1); }
  double tiles(const Extents& e) const { return e.batch * tiles_down * tiles_across; }
  double transformed_bytes(const Extents& e) const {
    return tiles(e) * inputs(e) * (e.in + e.out) * sizeof(float);
  }
  /// Outputs computed over outputs wanted.
  double waste(const Extents& e) const {
    return multiplies > 0 ? tiles_down * down * tiles_across * across / (e.out_h * e.out_w) : 1;
  }
};

/// What loops are counted of: the heaviest operator of a kernel, and the device's vectors.
struct LoopsOf {
  const Extents& extents;
  const WinogradTiles& winograd;
  double lanes = 1;  ///< float32 per vector
  /// The form of a convolution over positions; nullopt for what that does not serve.
  FunctionRef<std::optional<ConvPositions>()> positions;

  /// Vectors of a result's channels, or of the columns of a product.
  double column_vectors() const;
};

/// The register tiles of a kernel, counted. Where the schedule is not known, tiles are one vector.
struct LoopCounts {
  double tiles = 1;
  double rows = 1, columns = 1;  ///< of a tile: scalars and vectors that a step multiplies
  double depth = 1;              ///< steps of a tile
  double lanes = 1;              ///< of a vector
  double transforms = 0;         ///< vectors that Winograd's transforms compute

  /// What loops step by along an axis of the result: its width, vectors of channels, the rows of a product or
  /// rows of tiles, Winograd's tiles.
  double width_step = 1, channel_step = 1, row_step = 1, tile_step = 1;

  double steps() const { return tiles * depth; }
  /// Operations, those on lanes and rows that no result needs included.
  double operations() const { return 2 * steps() * rows * columns * lanes; }
};

/// What the template says of its kernel (ScheduleTemplate::loops); vector_loops() for the name of none.
LoopCounts loops_of_template(std::string_view template_name, const LoopsOf& of, const ScheduleParams& params);
/// Whether kernels of the template compute convolutions by fewer multiplications than their definition has.
bool transforms_tiles(std::string_view template_name);

/// ceil(extent / step) for a step of at least 1.
double loop_steps(double extent, double step);
/// A parameter, at least 1; 1 where a schedule does not have it, as those of older versions.
double loop_param(const ScheduleParams& params, const char* name);
/// Loads and stores of `count` neighbouring elements: in vectors, and in powers of two of what remains.
double pieces(double count, double lanes);

// Loops that several templates have.
/// One vector at a time, by Winograd's algorithm where the operator is such.
LoopCounts vector_loops(const LoopsOf& of, const ScheduleParams& params = {});
/// Tiles of `rows` rows of a product x `columns` vectors.
LoopCounts product_loops(const LoopsOf& of, double rows, double columns);
/// Tiles of pixels (`tile_x` of a row, `tile_y` rows) x vectors of channels (`tile_c`).
LoopCounts pixel_loops(const LoopsOf& of, const ScheduleParams& params);
/// Products of Winograd's tiles: `tile_t` of those of `rows` rows x `tile_c` vectors of channels.
LoopCounts winograd_loops(const LoopsOf& of, const ScheduleParams& params);

}  // namespace baton
