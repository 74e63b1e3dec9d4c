#pragma once
// What predictors derive from a kernel before they compute features and terms of it: the extents of its
// heaviest operator whatever the layout, Winograd's tiles, its roofline, and the tiles of its schedule.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "baton/ir/rules/cost.h"
#include "baton/predict/kernel_case.h"
#include "baton/predict/roofline_base.h"

namespace baton {

/// Work done over work wanted when `extent` is covered by pieces of `piece`: 1 where they fit.
inline double rounding(double extent, double piece) {
  return extent > 0 && piece > 1 ? std::ceil(extent / piece) * piece / extent : 1;
}

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

  WinogradTiles(const DescribedOperator* op, const Extents& e) {
    if (!op || op->name.find("winograd") == std::string::npos || op->inputs.size() < 2) return;
    const std::vector<int64_t>& weight = op->inputs[1].extents;
    if (weight.size() < 2) return;
    down = static_cast<double>(weight[0]) - e.kernel_h + 1;
    across = static_cast<double>(weight[1]) - e.kernel_w + 1;
    if (down < 1 || across < 1) {
      down = across = 0;
      return;
    }
    tiles_down = std::ceil(e.out_h / down), tiles_across = std::ceil(e.out_w / across);
    multiplies =
        e.batch * tiles_down * tiles_across * static_cast<double>(weight[0] * weight[1]) * e.in * e.out;
  }
  double transformed_bytes(const Extents& e) const {
    return e.batch * tiles_down * tiles_across * (down + e.kernel_h - 1) * (across + e.kernel_w - 1) *
           (e.in + e.out) * sizeof(float);
  }
  /// Of outputs computed over outputs wanted.
  double waste(const Extents& e) const {
    return multiplies > 0 ? tiles_down * down * tiles_across * across / (e.out_h * e.out_w) : 1;
  }
};

/// What features and terms read of a kernel.
struct KernelFacts {
  const KernelCase& of;
  const DescribedOperator* anchor;
  std::string_view kind;  ///< cost_class of the anchor
  Extents e;
  RooflineTime roofline;
  SheetRates rates;
  WinogradTiles winograd;
  double weight_bytes = 0, in_bytes = 0, out_bytes = 0;
  double inputs = 0, calls = 0;

  explicit KernelFacts(const KernelCase& c)
      : of(c),
        anchor(c.kernel.anchored()),
        kind(anchor && anchor->op ? cost_class(*anchor->op) : "other"),
        e(anchor ? extents_of(c.kernel, *anchor) : Extents()),
        roofline(roofline_time(c.kernel, *c.sheet, c.threads, c.model_bytes)),
        rates(sheet_rates(*c.sheet, c.threads)),
        winograd(anchor, e) {
    calls = static_cast<double>(c.kernel.operators.size());
    for (const DescribedOperator& op : c.kernel.operators) inputs += static_cast<double>(op.inputs.size());
    inputs -= std::max(0.0, calls - 1);
    weight_bytes = c.kernel.weight_bytes();
    if (!c.kernel.operators.empty())
      for (const DescribedTensor& each : c.kernel.operators.back().results) out_bytes += each.bytes();
    in_bytes = std::max(0.0, c.kernel.bytes - out_bytes - weight_bytes);
  }

  double count(std::string_view wanted) const {
    double n = 0;
    for (const DescribedOperator& op : of.kernel.operators)
      n += &op != anchor && op.op && cost_class(*op.op) == wanted;
    return n;
  }
  double parameter(const char* name, double otherwise) const {
    const auto at = of.parameters.find(name);
    return at == of.parameters.end() ? otherwise : at->second;
  }
  /// Of the schedule: rows (or pixels, or Winograd's tiles) and vectors of a tile in registers.
  double tile_rows() const {
    return std::max(1.0, parameter("tile_x", parameter("tile_m", parameter("tile_t", parameter("rows", 1)))));
  }
  double tile_columns() const {
    return std::max(1.0, parameter("tile_c", parameter("tile_n", parameter("vectors", 1))));
  }
  double tiled_rows() const {
    if (winograd.multiplies > 0) return e.batch * winograd.tiles_down * winograd.tiles_across;
    return of.parameters.count("tile_x") ? e.out_w : e.rows;
  }
  double register_tiles() const {
    const double rows = tiled_rows(), all_rows = winograd.multiplies > 0 ? rows : e.rows;
    return all_rows / std::max(1.0, rows) * std::ceil(rows / tile_rows()) *
           std::ceil(e.columns / (tile_columns() * lanes()));
  }
  double rounded_compute_us() const {
    const double operations = winograd.multiplies > 0 ? 2 * winograd.multiplies : of.kernel.flops;
    return operations / rates.gflops / 1e3 * rounding(tiled_rows(), tile_rows()) *
           (e.out_block > 1 ? rounding(e.out_block, lanes()) : rounding(e.columns, lanes()));
  }
  DType dtype() const { return anchor && !anchor->inputs.empty() ? anchor->inputs[0].dtype : DType(); }
  double lanes() const { return std::max(1, of.sheet->float_lanes); }
  double is(std::string_view wanted) const { return kind == wanted; }
};

}  // namespace baton
