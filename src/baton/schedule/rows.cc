// Reductions along the innermost axis (softmax, a dense layer without packed weight): several vectors of
// partial results per row, combined at the end of the row. Otherwise a row would be a serial chain of scalar
// steps. A dense layer of few rows of data reads its weight once, so memory bounds it: several rows of the
// weight at a time, as one stream alone does not use all of the bandwidth (19 of 26 GB/s were measured).
#include <algorithm>

#include "baton/schedule/common.h"
#include "baton/schedule/kernel_choice.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

/// Elements per task, at least: an exponential costs more than an addition.
constexpr int64_t kRowElements = 1 << 12;
/// Multiply-adds per task of a dense layer, at least.
constexpr int64_t kDenseMultiplyAdds = 1 << 16;
/// Sums of a dense layer that are computed together: enough to hide the latency of multiply-adds.
constexpr int kDenseSums = 8;
/// Rows of the weight that are read together at least: as many streams reach the rate of the memory.
constexpr int kDenseStreams = 4;

std::string first_reduction(const OpBlock& block) {
  for (const Stage& stage : block.stages)
    if (stage.func.has_update_definition()) return stage.name;
  return "";
}

/// The steps of the only loop of a reduction, as many as usual; 0 where there are several loops, or it is not
/// known.
int reduction_extent(const LoweredKernel& kernel, Func func) {
  const auto& rvars = func.update().get_schedule().rvars();
  if (rvars.size() != 1) return 0;
  return static_cast<int>(usual_value(kernel, rvars[0].extent).value_or(0));
}

/// The same, symbolic or not: that of the row, or of the depth of a dense layer.
Dim reduction_dim(const LoweredKernel& kernel, const Func& func) {
  const int steps = reduction_extent(kernel, func);
  for (const Tensor& input : anchor_of(kernel).inputs)
    if (input.rank() > 0 && input.dim(-1).is_symbolic() && kernel.usual_extent(input.dim(-1)) == steps)
      return input.dim(-1);
  return steps;
}

std::string rows_refuses(const LoweredKernel& kernel, const DeviceSheet&) {
  if (kernel.anchor < 0) return "no heavy operator in the kernel";
  const OpBlock& anchor = anchor_of(kernel);
  const std::string reason = refuses_anchor(kernel, "rows", first_reduction(anchor));
  if (!reason.empty()) return reason;
  const Func& result = anchor.results.front();
  for (const Stage& stage : anchor.stages) {
    if (!stage.func.has_update_definition()) continue;
    if (stage.func.num_update_definitions() != 1 || reduction_extent(kernel, stage.func) == 0)
      return "no reduction along one axis of known extent";
    if (stage.func.name() == result.name()) return "the reduction is the result itself";
    // Softmax along the innermost axis: its row statistics have one axis less, the first in Halide's order.
    const bool dense = anchor.stage("dense") != nullptr;
    if (!dense && (result.dimensions() < 2 ||
                   (stage.func.dimensions() > 0 && stage.func.args()[0].name() != result.args()[1].name())))
      return "the reduction does not run along the innermost axis of a tensor of rank 2 or more";
  }
  return "";
}

/// Rows of data of a dense layer.
int dense_rows_of(const LoweredKernel& kernel) {
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < output_of(kernel).dimensions(); ++axis) rows *= result_extent(kernel, axis);
  return static_cast<int>(std::min<int64_t>(rows, INT32_MAX));
}

int64_t weight_row_bytes(const LoweredKernel& kernel) {
  return int64_t{halide_type(anchor_of(kernel).inputs[1].dtype()).bytes()} *
         reduction_extent(kernel, anchor_stage(kernel, "dense"));
}

/// Whether the next rows of the weight are fetched while some are multiplied: they come from memory, and both
/// fit into the second-level cache. Hardware prefetchers stop at each page, thus at each row.
bool streams_rows(const LoweredKernel& kernel, int tile, const DeviceSheet& sheet) {
  const int64_t row = weight_row_bytes(kernel);
  return row * result_extent(kernel, -1) > sheet.l3_bytes / 4 && 2 * tile * row <= sheet.l2_bytes;
}

/// Rows of the weight that are multiplied at a time; 0 when the layer is none of few rows of data.
int tile_of_dense(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const OpBlock& anchor = anchor_of(kernel);
  const Func* dense = anchor.stage("dense");
  if (!dense) return 0;
  // Sums of all rows are in registers: their number is known.
  for (int axis = 0; axis + 1 < output_of(kernel).dimensions(); ++axis)
    if (result_dim(kernel, axis).is_symbolic()) return 0;
  const int rows = dense_rows_of(kernel);
  if (rows >= kFewestGemmRows || reduction_extent(kernel, *dense) < sheet.float_lanes) return 0;
  const int columns = result_extent(kernel, -1);
  const int few = std::min(kDenseStreams, columns),
            tile = std::min(std::max(kDenseSums / rows, kDenseStreams), columns);
  return streams_rows(kernel, few, sheet) ? few : tile;
}

ScheduleParams rows_default_params(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  if (const int tile = tile_of_dense(kernel, sheet))
    return {{"lanes", sheet.float_lanes}, {"tile_n", tile}, {"stream", streams_rows(kernel, tile, sheet)}};
  // An exponential takes longer than the latency of a sum, and the lanes of fewer vectors are folded sooner.
  const int vectors = anchor_of(kernel).stage("dense") ? 4 : 1;
  return {{"lanes", vectors * sheet.float_lanes}, {"tile_n", 0}, {"stream", 0}};
}

std::vector<ScheduleParams> rows_candidates(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  std::vector<ScheduleParams> all{rows_default_params(kernel, sheet)};
  const auto add = [&](int vectors, int tile) {
    ScheduleParams params{{"lanes", vectors * sheet.float_lanes},
                          {"tile_n", tile},
                          {"stream", tile > 0 && streams_rows(kernel, tile, sheet)}};
    if (params != all.front()) all.push_back(std::move(params));
  };
  if (tile_of_dense(kernel, sheet) > 0)
    for (const auto& [vectors, tile] : {std::pair{1, 4}, {2, 4}, {2, 2}, {4, 2}, {4, 1}, {1, 8}}) {
      if (tile <= result_extent(kernel, -1) && tile * vectors * dense_rows_of(kernel) <= 2 * kDenseSums)
        add(vectors, tile);
    }
  else
    for (int vectors : {1, 2, 4, 8}) add(vectors, 0);
  return all;
}

/// Dot products of all rows of data with `tile` rows of the weight at a time.
void dense_apply(LoweredKernel& kernel, int tile, int vectors, bool stream, const DeviceSheet& sheet) {
  Func out = output_of(kernel), dense = anchor_stage(kernel, "dense");
  const std::vector<Var> i = out.args(), d = dense.args();
  const int columns = result_extent(kernel, -1), depth = reduction_extent(kernel, dense),
            rows = dense_rows_of(kernel);
  const Var no("no"), ni("ni"), lane("lane"), vector("vector");
  const RVar r(dense.rvars()[0].name()), ro("ro"), ri("ri");
  out.split(i[0], no, ni, tile, inside(kernel, result_dim(kernel, -1), tile));
  std::vector<Halide::VarOrRVar> order{ni};
  order.insert(order.end(), i.begin() + 1, i.end());
  order.push_back(no);
  out.reorder(order);
  if (tile > 1) out.vectorize(ni);
  const Var item = parallel_tasks(out, {no}, tiles_of(columns, tile), int64_t{tile} * rows * depth,
                                  kDenseMultiplyAdds, !kernel.is_static());

  int width = vectors * sheet.float_lanes;
  while (width > sheet.float_lanes && width > depth) width /= 2;
  dense.update().split(r, ro, ri, width, TailStrategy::GuardWithIf);
  Func partial = dense.update().rfactor(ri, lane);
  // Constant extents keep the sums in registers.
  const auto bound = [&](Func func) {
    func.compute_at(out, item).bound_extent(d[0], tile);
    for (size_t axis = 1; axis < d.size(); ++axis)
      func.bound_extent(d[axis], result_extent(kernel, static_cast<int>(d.size() - 1 - axis)));
  };
  bound(dense), bound(partial);
  for (const Var& axis : d) dense.unroll(axis), partial.unroll(axis);
  dense.update().atomic().vectorize(ri);
  std::vector<Var> storage{lane};  // as rfactor() leaves it, sums would be gathered
  storage.insert(storage.end(), d.begin(), d.end());
  partial.reorder_storage(storage).vectorize(lane, sheet.float_lanes).unroll(lane);
  std::vector<Halide::VarOrRVar> sums{vector, lane};
  sums.insert(sums.end(), d.begin(), d.end());
  sums.push_back(ro);
  partial.update().split(lane, lane, vector, sheet.float_lanes).reorder(sums).vectorize(vector).unroll(lane);
  for (const Var& axis : d) dense.update().unroll(axis), partial.update().unroll(axis);
  if (stream)
    kernel.streams.push_back({.array = input_name(anchor_of(kernel).inputs[1]),
                              .issue = {partial.name(), 1, ro.name()},
                              .ahead = {out.name(), 0, item.name()},
                              .bytes = tile * weight_row_bytes(kernel),
                              .turns = {{{partial.name(), 1, ro.name()}, 1}},
                              .iterations = tiles_of(depth, width)});
  schedule_feeders(kernel, sheet);
}

void rows_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  if (const int tile = params.at("tile_n"))
    return dense_apply(kernel, tile, params.at("lanes") / sheet.float_lanes, params.at("stream"), sheet);
  const OpBlock& anchor = anchor_of(kernel);
  Func out = output_of(kernel);
  const std::vector<Var> i = out.args();
  const bool dense = anchor.stage("dense") != nullptr, symbolic = result_dim(kernel, -1).is_symbolic();
  Var row = i[0];
  bool has_groups = false;  // of rows, in parallel
  if (!dense) {
    int64_t rows = 1;
    for (size_t axis = 0; axis + 1 < i.size(); ++axis) rows *= result_extent(kernel, static_cast<int>(axis));
    has_groups = kRowElements / result_extent(kernel, -1) > 1;
    // Halide does not see that a fused loop never leaves the first row of an axis of one.
    std::vector<Var> loops{i[1]};
    for (size_t axis = 2; axis < i.size(); ++axis)
      if (!(result_dim(kernel, static_cast<int>(i.size() - 1 - axis)) == 1)) loops.push_back(i[axis]);
    row = parallel_tasks(out, loops, rows, result_extent(kernel, -1), kRowElements, !kernel.is_static());
  }
  const std::string result = anchor.results.front().name();
  for (const Stage& stage : anchor.stages) {
    Func func = stage.func;
    if (func.name() == out.name()) continue;
    if (func.has_update_definition()) {
      func.compute_at(out, row);
      reduce_in_vectors(kernel, func, RVar(func.rvars()[0].name()), reduction_dim(kernel, func),
                        params.at("lanes") / sheet.float_lanes, sheet.float_lanes);
    } else if (func.name() != result && !dense) {  // the exponentials: stored, since they are read twice
      func.compute_at(out, row).vectorize(func.args()[0], sheet.float_lanes, TailStrategy::GuardWithIf);
      // Memory of an unknown size comes from the allocator, which takes as long as a short row.
      if (symbolic && has_groups) func.hoist_storage(out, Var("group"));
    }
  }
  if (!dense) out.vectorize(i[0], sheet.float_lanes, TailStrategy::GuardWithIf);
  if (dense && i.size() == 2 && result_extent(kernel, 0) == 1)
    out.reorder(i[1], i[0]).parallel(i[0], std::min(16, result_extent(kernel, 1)), TailStrategy::GuardWithIf);
  else if (dense && i.size() > 1)
    out.parallel(i.back());
  schedule_feeders(kernel, sheet);
}

LoopCounts rows_loops(const LoopsOf& of, const ScheduleParams& params) {
  return product_loops(of, 1, loop_param(params, "tile_n"));
}

}  // namespace

const ScheduleTemplate& template_rows() {
  static const ScheduleTemplate def = {
      .name = "rows",
      .doc = "reductions along the innermost axis, in several vectors of partial results",
      .refuses = rows_refuses,
      .default_params = rows_default_params,
      .candidates = rows_candidates,
      .apply = rows_apply,
      .loops = rows_loops,
      .usual = {kUsualExtent, 1},
  };
  return def;
}

}  // namespace baton
