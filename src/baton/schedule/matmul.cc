// Matrix products whose second operand is not packed (nn.batch_matmul, nn.matmul, and nn.dense with a weight
// that is no constant): a tile of rows x columns is accumulated in registers. Where several tiles of rows
// read the same columns of the second operand, these are copied to a panel first, in the order in which they
// are read; this also transposes them.
#include <algorithm>

#include "baton/ir/inspect.h"
#include "baton/ir/op_names.h"
#include "baton/ir/rules/pass_traits.h"
#include "baton/schedule/common.h"
#include "baton/schedule/kernel_choice.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

/// Multiply-adds per task: enough to hide the cost of starting it.
constexpr int64_t kTaskMultiplyAdds = 1 << 16;
/// As many panels keep all cores busy.
constexpr int kManyPanels = 4;

struct MatmulExtents {
  int rows = 1, columns = 1, depth = 1;
  int64_t batches = 1;
  bool shared = true;     ///< all batches have the same second operand
  int lanes = 1;          ///< per vector; at most `columns`
  bool in_order = false;  ///< rows of the second operand, of a known length, lie one after the other
};

const char* sum_stage_of(const OpBlock& anchor) {
  for (const char* name : {"batch_matmul", "matmul", "dense"})
    if (anchor.stage(name) && anchor.stage("right")) return name;
  return "";
}

MatmulExtents matmul_extents_of(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const OpBlock& anchor = anchor_of(kernel);
  const int rank = output_of(kernel).dimensions();
  MatmulExtents e;
  e.columns = result_extent(kernel, rank - 1), e.rows = result_extent(kernel, rank - 2);
  for (int axis = 0; axis < rank - 2; ++axis) e.batches *= result_extent(kernel, axis);
  e.shared = anchor.inputs[1].rank() == 2 || anchor.inputs[1].dim(0) == 1;
  int64_t left = 1,
          outside = e.rows * (anchor.inputs[0].rank() == 3 && anchor.inputs[0].dim(0) == 1 ? 1 : e.batches);
  for (const int64_t extent : usual_shape(kernel, anchor.inputs[0].dims())) left *= extent;
  e.depth = static_cast<int>(left / outside);
  e.lanes = std::min(e.columns, sheet.float_lanes);
  e.in_order = !result_dim(kernel, -1).is_symbolic() && anchor.op->name != op_names::kDense &&
               !bool_attr(*anchor.call, "transpose_b") && anchor.producers[1] < 0;
  return e;
}

std::string matmul_refuses(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  if (kernel.anchor < 0) return "no heavy operator in the kernel";
  const auto* rule = anchor_of(kernel).op->rules.get<AnchorRule>();
  const std::string stage = sum_stage_of(anchor_of(kernel));
  const bool dense = stage == "dense";
  const std::string reason = refuses_anchor(kernel, rule && dense ? rule->of_template : "matmul", stage);
  if (!reason.empty()) return reason;
  if (output_of(kernel).dimensions() < 2) return "the result is a vector";
  if (dense && matmul_extents_of(kernel, sheet).rows < kFewestGemmRows)
    return "fewer than " + std::to_string(kFewestGemmRows) + " rows";
  return "";
}

/// The tile of the least expected cost. Its columns need not divide those of the product: the last tile is
/// shifted inwards.
RegisterTile matmul_tile(const LoweredKernel& kernel, const MatmulExtents& e, const DeviceSheet& sheet) {
  const Dim rows = result_dim(kernel, -2);
  // What has fewer columns than a vector is small.
  const int most_sums = e.lanes < sheet.float_lanes ? open_sums(4, 1) : kMostOpenSums;
  return choose_register_tile({.rows = e.rows,
                               .columns = tiles_of(e.columns, e.lanes),
                               .vectors = 1,
                               .depth = e.depth,
                               .row_bytes = int64_t(e.depth) * 4,
                               .whole_columns = e.columns / e.lanes,
                               .most_open_sums = rows.is_symbolic() ? most_sums : 0},
                              sheet, TileColumns::kAny, lengths_of(kernel, rows));
}

ScheduleParams matmul_params(const MatmulExtents& e, RegisterTile tile) {
  // A panel of whole rows is the operand as it is.
  const bool is_panel = e.in_order && tile.columns * e.lanes == e.columns;
  return {{"tile_m", tile.rows}, {"tile_n", tile.columns}, {"pack", e.rows > tile.rows && !is_panel}};
}

ScheduleParams matmul_default_params(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const MatmulExtents e = matmul_extents_of(kernel, sheet);
  return matmul_params(e, matmul_tile(kernel, e, sheet));
}

std::vector<ScheduleParams> matmul_candidates(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const MatmulExtents e = matmul_extents_of(kernel, sheet);
  std::vector<ScheduleParams> all{matmul_default_params(kernel, sheet)};
  for (int m : {1, 2, 4, 6, 8, 12, 14})
    for (int n : {1, 2, 3, 4})
      for (int pack : {0, 1}) {
        if (m > e.rows || n * e.lanes > e.columns || m * n + n + 1 > sheet.vector_registers) continue;
        ScheduleParams params = matmul_params(e, {m, n});
        params["pack"] = pack;
        if (params != all.front()) all.push_back(std::move(params));
      }
  return all;
}

/// Vectorises the panel along its columns and computes it where the caller has put it.
void schedule_panel(Func right, int width, int lanes) {
  const Var n = right.args()[0], vector("vector"), lane("lane");
  right.bound_extent(n, width).split(n, vector, lane, lanes).vectorize(lane).unroll(vector);
}

void matmul_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  const MatmulExtents e = matmul_extents_of(kernel, sheet);
  const int tile_m = std::min(params.at("tile_m"), e.rows);
  const int tile_n = std::clamp(params.at("tile_n"), 1, e.columns / e.lanes);
  const int width = tile_n * e.lanes, panels = tiles_of(e.columns, width);
  const bool pack = params.at("pack");
  Func out = output_of(kernel), sum = anchor_stage(kernel, sum_stage_of(anchor_of(kernel))),
       right = anchor_stage(kernel, "right");
  const std::vector<Var> i = out.args();
  const Var no("no"), vector("vector"), lane("lane"), mo("mo"), mi("mi");
  const Dim columns = result_dim(kernel, -1);
  const RowTiles rows(kernel, result_dim(kernel, -2), tile_m);
  out.split(i[0], no, vector, width, inside(kernel, columns, width, e.lanes))
      .split(vector, vector, lane, e.lanes);
  rows.split(out, i[1], mo, mi);
  out.vectorize(lane).unroll(vector);
  if (result_dim(kernel, -2).is_symbolic()) out.never_partition_all();
  const int64_t panel_work = int64_t(e.rows) * width * e.depth;
  Var tile = mo;  // the loop over tiles that share a panel
  if (!e.shared) {
    out.reorder(lane, vector, mi, mo, no, i[2]);
    const Var item = parallel_tasks(out, {no, i[2]}, e.batches * panels, panel_work, kTaskMultiplyAdds,
                                    !kernel.is_static());
    if (pack) right.compute_at(out, item), schedule_panel(right, width, e.lanes);
  } else if (panels >= kManyPanels) {
    std::vector<Halide::VarOrRVar> order{lane, vector, mi, mo};
    order.insert(order.end(), i.begin() + 2, i.end());
    order.push_back(no);
    out.reorder(order);
    const Var item =
        parallel_tasks(out, {no}, panels, panel_work * e.batches, kTaskMultiplyAdds, !kernel.is_static());
    if (pack) right.compute_at(out, item), schedule_panel(right, width, e.lanes);
  } else {
    // Few panels: the whole second operand is copied, and the tasks are tiles of rows.
    std::vector<Halide::VarOrRVar> order{lane, vector, mi, no, mo};
    order.insert(order.end(), i.begin() + 2, i.end());
    out.reorder(order);
    std::vector<Var> loops{mo};
    loops.insert(loops.end(), i.begin() + 2, i.end());
    parallel_tasks(out, loops, e.batches * tiles_of(e.rows, tile_m), int64_t(tile_m) * e.columns * e.depth,
                   kTaskMultiplyAdds, !kernel.is_static());
    if (pack)
      right.compute_root().vectorize(right.args()[0], e.lanes, inside(kernel, columns, e.lanes, e.lanes));
    tile = no;
  }

  const std::vector<Var> s = sum.args();
  const RVar r(sum.rvars()[0].name());
  sum.compute_at(out, tile)
      .bound_extent(s[0], width)
      .split(s[0], vector, lane, e.lanes)
      .vectorize(lane)
      .unroll(vector);
  std::vector<Halide::VarOrRVar> order{lane, vector, s[1]};
  order.insert(order.end(), s.begin() + 2, s.end());
  order.push_back(r);
  sum.update().split(s[0], vector, lane, e.lanes).reorder(order).vectorize(lane).unroll(vector);
  rows.write_out(sum, s[1]);
  schedule_feeders(kernel, sheet);
}

LoopCounts matmul_loops(const LoopsOf& of, const ScheduleParams& params) {
  LoopCounts counts = product_loops(of, loop_param(params, "tile_m"), loop_param(params, "tile_n"));
  counts.row_step = counts.rows;
  return counts;
}

}  // namespace

const ScheduleTemplate& template_matmul() {
  static const ScheduleTemplate def = {
      .name = "matmul",
      .doc =
          "matrix products, batches too, sums of a tile of rows x columns in registers, the second operand "
          "copied to panels",
      .refuses = matmul_refuses,
      .default_params = matmul_default_params,
      .candidates = matmul_candidates,
      .apply = matmul_apply,
      .loops = matmul_loops,
      .usual = {kUsualExtent, 16, 3, 1},
  };
  return def;
}

}  // namespace baton
