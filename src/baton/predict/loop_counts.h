#pragma once
// How often the loops of a schedule run: the tiles of sums that are held in registers, the steps of each, and
// the vectors that Winograd's transforms read and write. Features and terms of predictors count with them.
#include "baton/predict/extents.h"

namespace baton {

/// Of all register tiles of a kernel. Where the schedule is not known, tiles are one vector.
struct LoopCounts {
  double tiles = 1;
  double rows = 1, columns = 1;  ///< of a tile: scalars and vectors that a step multiplies
  double depth = 1;              ///< steps of a tile
  double lanes = 1;              ///< of a vector
  double transforms = 0;         ///< vectors that Winograd's transforms compute

  double steps() const { return tiles * depth; }
  /// Operations, those on lanes and rows that no result needs included.
  double operations() const { return 2 * steps() * rows * columns * lanes; }
};

LoopCounts loop_counts(const KernelCase& kernel, const Extents& e, const WinogradTiles& winograd);

/// Loads and stores of `count` neighbouring elements: in vectors, and in powers of two of what remains.
double pieces(double count, double lanes);

}  // namespace baton
