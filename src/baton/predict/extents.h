#pragma once
// The extents of the heaviest operator of a kernel whatever its layout, and Winograd's tiles.
#include <cstdint>

#include "baton/predict/kernel_case.h"

namespace baton {

/// The extents of the heaviest operator, whatever its layout.
struct Extents {
  double batch = 1, in = 1, out = 1, groups = 1;
  double in_h = 1, in_w = 1, out_h = 1, out_w = 1, kernel_h = 1, kernel_w = 1;
  double stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, padding_h = 0, padding_w = 0;
  double reduction = 1, rows = 1, columns = 1, in_block = 1, out_block = 1, inner = 1;
};

Extents extents_of(const KernelDescription& kernel, const DescribedOperator& op);

/// A convolution by Winograd's algorithm, in tiles of outputs; 0: it is none. The tile follows from the
/// weight, which has been transformed: its first two axes are those of a tile's inputs.
struct WinogradTiles {
  double down = 0, across = 0;  ///< outputs of a tile
  double tiles_down = 0, tiles_across = 0, multiplies = 0;

  WinogradTiles(const DescribedOperator* op, const Extents& e);

  double inputs(const Extents& e) const { return (down + e.kernel_h - 1) * (across + e.kernel_w - 1); }
  double tiles(const Extents& e) const { return e.batch * tiles_down * tiles_across; }
  double transformed_bytes(const Extents& e) const {
    return tiles(e) * inputs(e) * (e.in + e.out) * sizeof(float);
  }
  /// Of outputs computed over outputs wanted.
  double waste(const Extents& e) const {
    return multiplies > 0 ? tiles_down * down * tiles_across * across / (e.out_h * e.out_w) : 1;
  }
};

}  // namespace baton
