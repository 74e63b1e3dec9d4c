#include "baton/schedule/loops.h"

#include <algorithm>
#include <cmath>

namespace baton {

double loop_steps(double extent, double step) { return std::ceil(extent / std::max(1.0, step)); }

double loop_param(const ScheduleParams& params, const char* name) {
  const auto at = params.find(name);
  return at == params.end() ? 1 : std::max(1, at->second);
}

double pieces(double count, double lanes) {
  double whole = std::floor(count / lanes);
  for (auto rest = static_cast<unsigned>(count - whole * lanes); rest; rest &= rest - 1) ++whole;
  return std::max(1.0, whole);
}

double LoopsOf::column_vectors() const {
  return extents.out_block > 1 ? extents.out / extents.out_block * loop_steps(extents.out_block, lanes)
                               : loop_steps(extents.columns, lanes);
}

LoopCounts product_loops(const LoopsOf& of, double rows, double columns) {
  LoopCounts counts;
  counts.lanes = of.lanes;
  counts.depth = std::max(1.0, of.extents.reduction);
  counts.rows = rows, counts.columns = columns;
  counts.tiles = loop_steps(of.extents.rows, rows) * loop_steps(of.column_vectors(), columns);
  return counts;
}

LoopCounts vector_loops(const LoopsOf& of, const ScheduleParams& params) {
  return of.winograd.multiplies > 0 ? winograd_loops(of, params) : product_loops(of, 1, 1);
}

LoopCounts pixel_loops(const LoopsOf& of, const ScheduleParams& params) {
  const Extents& e = of.extents;
  const double tile_x = loop_param(params, "tile_x"), tile_y = loop_param(params, "tile_y"),
               tile_c = loop_param(params, "tile_c");
  LoopCounts counts = product_loops(of, tile_x * tile_y, tile_c);
  counts.tiles = e.batch * loop_steps(e.out_h, tile_y) * loop_steps(e.out_w, tile_x) *
                 loop_steps(of.column_vectors(), tile_c);
  counts.width_step = tile_x, counts.channel_step = tile_c;
  return counts;
}

LoopCounts winograd_loops(const LoopsOf& of, const ScheduleParams& params) {
  const Extents& e = of.extents;
  const WinogradTiles& w = of.winograd;
  const double tile_t = loop_param(params, "tile_t"), tile_c = loop_param(params, "tile_c"),
               rows = loop_param(params, "rows"), at_once = std::min(rows, w.tiles_down);
  LoopCounts counts;
  counts.lanes = of.lanes;
  counts.depth = e.in;
  counts.rows = tile_t, counts.columns = tile_c;
  counts.tiles = e.batch * loop_steps(w.tiles_down, at_once) * loop_steps(at_once * w.tiles_across, tile_t) *
                 w.inputs(e) * loop_steps(of.column_vectors(), tile_c);
  counts.transforms = w.tiles(e) * w.inputs(e) *
                      (e.in / e.in_block * pieces(e.in_block, of.lanes) +
                       e.out / e.out_block * pieces(e.out_block, of.lanes));
  counts.channel_step = tile_c, counts.row_step = rows, counts.tile_step = tile_t;
  return counts;
}

}  // namespace baton
