#pragma once
// The form in which convolutions on plain layouts (NCW, NCHW, NCDHW) are summed: vectors run over positions.
// The rows of a band of the padded data are stored one after the other, `pitch` elements apart, so that the
// results of all rows of the band are one range of positions, and every tap reads the data at one distance
// from them. Between the rows lie `pitch` - width positions whose sums nobody reads: fewer than the lanes
// that the last vector of each row would waste. With strides, each of the stride's phases is stored for
// itself. Spatial axes are in the order z, y, x here; those that the convolution does not have are 1 long.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace baton {

struct ConvPositions {
  using Extents = std::array<int, 3>;  ///< z, y, x
  int count = 0;                       ///< spatial axes of the operator
  int batch = 1, groups = 1, in_per_group = 1, out_per_group = 1;
  Extents in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, before{0, 0, 0};

  /// By spatial axis: phases that are stored, and the distance to the last tap in positions.
  Extents phases{1, 1, 1}, reach{0, 0, 0};
  /// Each result is computed from one position of the data, and all of them are one row (JoinableAxes): there
  /// is one band, and without strides the data need no copy.
  bool one_pixel = false;
  /// With strides and data that keep their rows: results per row of the data; else 0.
  int row = 0;
  bool padded = false;      ///< some tap reads beyond the data, zeros
  int pitch = 1;            ///< positions from one row to the next
  int band = 1, bands = 1;  ///< rows of results that are summed at a time; the last band may have fewer
  /// Channels of a register tile, and the tiles of a group; the last one overlaps the one before.
  int tile = 1, tiles = 1;
  int chunk = 1;  ///< input channels whose part of a band stays in the first-level cache

  int rows() const { return band + reach[1]; }  ///< of data, for one band
  /// Positions of a band's results.
  int positions() const { return (band - 1) * pitch + out[2]; }
  /// Positions of the data that `results` positions read.
  int positions_read(int results) const { return results + reach[1] * pitch + reach[2]; }
};

/// What the form is made from: shapes in the canonical layouts (N, C, spatial) and (O, I, spatial).
struct ConvPositionsOf {
  std::vector<int64_t> data, weight, out, strides, dilation, before;
  int64_t groups = 1;
};

/// A transposed convolution, its weight's shape in (I, O / groups, spatial), as the convolution that it is
/// where all strides are 1: with the taps in reverse order.
ConvPositionsOf as_convolution(ConvPositionsOf transposed);

/// A convolution of windows of one pixel without padding, as JoinableAxes makes it: rows are joined.
/// Others, and those with other than two spatial axes, are returned as they are.
ConvPositionsOf join_pixels(ConvPositionsOf conv);

/// Nullopt for what the form does not serve: no elements, or one channel per group on both sides, whose sums
/// are too short for tiles of channels.
std::optional<ConvPositions> conv_positions(const ConvPositionsOf& conv);

}  // namespace baton
