// Convolutions on plain layouts, and transposed ones without strides: vectors over the positions of a band of
// rows (ir/rules/conv_positions.h). A task sums a band for all channels of a group. A register tile of
// vectors x channels goes over the taps of a chunk of input channels; the tiles of a chunk come before the
// next chunk, so that the first-level cache holds what they read of the data, and the sums stay in the
// second-level cache.
#include "baton/ir/rules/conv_positions.h"

#include <algorithm>

#include "baton/ir/inspect.h"
#include "baton/ir/rules/pass_traits.h"
#include "baton/ops/shared/spatial.h"
#include "baton/schedule/common.h"
#include "baton/schedule/regions.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

/// Taps of a row that are unrolled: the loop over a short row ends too often to be predicted.
constexpr int kUnrolledRow = 7;
/// From this many taps a row on, the data are read from the first-level cache anyway, and the weights of a
/// tile of channels stay there, too.
constexpr int kLongRow = 5;
/// Tiles of channels for which a copy of the data pays, and multiply-adds per task.
constexpr int kCopiedTiles = 4;
constexpr int64_t kTaskWork = 1 << 18;
/// Phases of strides that are written out, one step each; beyond, a loop goes over them: compiling a step for
/// each of 256 takes half a minute.
constexpr int kWrittenOutPhases = 16;
/// Rows of data this many bytes apart (or a multiple) conflict in the first-level cache.
constexpr int kConflictBytes = 1024, kLineFloats = 16;

const char* rule_of(const LoweredKernel& kernel) {
  const auto* rule = kernel.anchor < 0 ? nullptr : anchor_of(kernel).op->rules.get<AnchorRule>();
  return rule && rule->of_template == "conv_transpose" ? "conv_transpose" : "conv_plain";
}

ConvPositions positions_of(const LoweredKernel& kernel) {
  const OpBlock& anchor = anchor_of(kernel);
  const bool transposed = std::string_view(rule_of(kernel)) == "conv_transpose";
  const std::vector<int64_t> strides = ints_attr(*anchor.call, "strides");
  const int count = static_cast<int>(strides.size());
  // A transposed convolution's weights are input channels by output channels of a group.
  const std::string letters = (transposed && count == 2 ? "IO" : "OI") + std::string(spatial_letters(count));
  std::vector<int64_t> before, after;
  split_padding(ints_attr(*anchor.call, "padding"), strides.size(), &before, &after);
  ConvPositionsOf of{
      anchor.inputs[0].shape(),
      convert_shape(anchor.inputs[1].shape(), *Layout::parse(text_attr(*anchor.call, "kernel_layout")),
                    *Layout::parse(letters)),
      as_type<TensorTypeNode>(anchor.call->checked_type())->extents(),
      strides,
      ints_attr(*anchor.call, "dilation"),
      before,
      int_attr(*anchor.call, "groups")};
  return conv_positions(transposed ? as_convolution(std::move(of)) : of).value();
}

std::string conv_positions_refuses(const LoweredKernel& kernel, const DeviceSheet&) {
  if (!kernel.is_static()) return "bands of rows are of numbers, and there are symbolic extents";
  return refuses_anchor(kernel, rule_of(kernel), "sums");
}

bool fits(const ConvPositions& p, int vectors, const DeviceSheet& sheet) {
  // A single channel uses each vector once, as an operand in memory.
  const int data = p.tile > 1 ? vectors : 1;
  return p.tile * vectors + data + 1 <= sheet.vector_registers;
}

ScheduleParams conv_positions_default_params(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const ConvPositions p = positions_of(kernel);
  int best = 1;
  double least = 1e300;
  for (int vectors = 1; vectors == 1 || fits(p, vectors, sheet); ++vectors) {
    const int sums = p.tile * vectors;
    // Multiply-adds; loads, of which a vector at any address often takes two lines; latency; the loop.
    const double step = std::max({double(sums), p.tile * 0.5 + vectors * 1.0, 8.0}) + 1;
    const double cost = step * tiles_of(p.positions(), vectors * sheet.float_lanes);
    if (cost < least) least = cost, best = vectors;
  }
  return {{"vectors", best},
          {"unroll", p.kernel[2] <= kUnrolledRow ? p.kernel[2] : 1},
          {"weights_inner", p.kernel[2] >= kLongRow}};
}

std::vector<ScheduleParams> conv_positions_candidates(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const ConvPositions p = positions_of(kernel);
  std::vector<ScheduleParams> all{conv_positions_default_params(kernel, sheet)};
  for (int vectors : {1, 2, 3, 4, 5, 6, 8})
    for (int inner : {0, 1}) {
      if (!fits(p, vectors, sheet)) continue;
      ScheduleParams params = all.front();
      params["vectors"] = vectors, params["weights_inner"] = inner;
      if (params != all.front()) all.push_back(std::move(params));
    }
  return all;
}

/// Each register tile goes over all input channels at once, and then to the result; with groups, those of one
/// group do, since Halide does not see which tile a channel of a group belongs to. With several tiles of
/// channels the data of a tile of positions are copied before: those of the next channel lie far away.
void schedule_one_pixel(Func out, Func sum, Func pad, const ConvPositions& p, const ScheduleParams& params,
                        const DeviceSheet& sheet) {
  const std::vector<Var> i = out.args();
  const bool by_tile = p.groups == 1;
  const int row = p.out[2], lanes = std::min(sheet.float_lanes, row);
  const int vectors = std::min(params.at("vectors"), row / lanes), width = vectors * lanes;
  const Var outer("outer"), vector("vector"), lane("lane"), group("group"), tile("tile"), channel("channel");
  out.split(i[0], outer, vector, width, inside(row, width))
      .split(vector, vector, lane, lanes)
      .vectorize(lane)
      .unroll(vector);
  std::vector<VarOrRVar> order{lane, vector, channel};
  std::vector<Var> tasks{outer};
  if (by_tile) {
    out.split(i[p.count], tile, channel, p.tile, guarded(p.out_per_group, p.tile)).unroll(channel);
    order.push_back(tile);
  } else {
    out.split(i[p.count], group, channel, p.out_per_group);
    tasks.insert(tasks.begin(), group);
  }
  for (int axis = 1; axis < p.count; ++axis) tasks.push_back(i[axis]);
  tasks.push_back(i[p.count + 1]);
  order.insert(order.end(), tasks.begin(), tasks.end());
  out.reorder(order);
  const int64_t iterations = int64_t{p.groups} * tiles_of(row, width) * p.batch;
  const Var item =
      parallel_tasks(out, tasks, iterations, int64_t{width} * p.in_per_group * p.out_per_group, kTaskWork);
  const std::vector<Var> s = sum.args();
  sum.compute_at(out, by_tile ? tile : item).bound_extent(s[0], width).bound_extent(s[1], p.tile);
  for (size_t d = 2; d < s.size(); ++d) sum.bound_extent(s[d], d == 2 && !by_tile ? p.tiles : 1);
  sum.vectorize(s[0], lanes).unroll(s[0]).unroll(s[1]);
  Halide::Stage update = sum.update();
  std::vector<VarOrRVar> loops{lane, vector, s[1]};
  for (const auto& rvar : update.get_schedule().rvars()) loops.push_back(RVar(rvar.var));
  loops.insert(loops.end(), s.begin() + 2, s.end());
  update.split(s[0], vector, lane, lanes).reorder(loops).vectorize(lane).unroll(vector).unroll(s[1]);
  const std::vector<Var> a = pad.args();
  if (p.row > 0) {
    // Row by row of the pixels that the strides leave, or each of them costs a division.
    pad.compute_root()
        .split(a[0], outer, vector, p.row)
        .vectorize(vector, std::min(sheet.float_lanes, p.row), TailStrategy::GuardWithIf)
        .parallel(a[2]);
    return;
  }
  if (p.tiles < kCopiedTiles) return;
  pad.compute_at(out, item).bound_extent(a[0], width).vectorize(a[0], lanes).unroll(a[0]);
}

/// The loops of the result; returns the one over tasks: bands, groups, slices and images.
Var schedule_tasks(Func out, const ConvPositions& p, const DeviceSheet& sheet) {
  const std::vector<Var> i = out.args();
  const Var vector("vector"), lane("lane"), band("band"), row("row"), group("group"), channel("channel");
  const int width = std::min(p.out[2], sheet.float_lanes);
  out.split(i[0], vector, lane, width, inside(p.out[2], width)).vectorize(lane);
  std::vector<VarOrRVar> order{lane, vector};
  std::vector<Var> tasks;
  if (p.count > 1) {
    out.split(i[1], band, row, p.band, guarded(p.out[1], p.band));
    order.push_back(row), tasks.push_back(band);
  }
  out.split(i[p.count], group, channel, p.out_per_group);
  order.push_back(channel), tasks.push_back(group);
  if (p.count > 2) tasks.push_back(i[2]);
  tasks.push_back(i[p.count + 1]);
  order.insert(order.end(), tasks.begin(), tasks.end());
  out.reorder(order);
  int64_t work = int64_t{p.positions()} * p.out_per_group * p.in_per_group;
  for (const int extent : p.kernel) work *= extent;
  return parallel_tasks(out, tasks, int64_t{p.bands} * p.groups * p.out[0] * p.batch, work, kTaskWork);
}

void schedule_sums(Func sum, const ConvPositions& p, const ScheduleParams& params, const DeviceSheet& sheet) {
  const std::vector<Var> s = sum.args();  // position, channel, tile, group, z, band, batch
  const int lanes = sheet.float_lanes, vectors = params.at("vectors");
  const int width = vectors * lanes;
  sum.bound_extent(s[0], tiles_of(p.positions(), width) * width)
      .bound_extent(s[1], p.tile)
      .bound_extent(s[2], p.tiles)
      .vectorize(s[0], lanes);
  for (size_t d = 3; d < s.size(); ++d) sum.bound_extent(s[d], 1);
  for (int update = 0; update < sum.num_update_definitions(); ++update) {
    Halide::Stage stage = sum.update(update);
    std::vector<RVar> r;
    for (const auto& rvar : stage.get_schedule().rvars()) r.emplace_back(rvar.var);
    const Var outer("outer"), inner("inner"), vector("vector"), lane("lane");
    stage.split(s[0], outer, inner, width)
        .split(inner, vector, lane, lanes)
        .vectorize(lane)
        .unroll(vector)
        .unroll(s[1]);
    std::vector<VarOrRVar> order{lane, vector, s[1], r[0], r[1], r[2], r[3]};
    if (params.at("weights_inner"))
      order.insert(order.end(), {outer, s[2]});
    else
      order.insert(order.end(), {s[2], outer});
    if (r.size() > 4) order.push_back(r[4]);
    order.insert(order.end(), s.begin() + 3, s.end());
    stage.reorder(order);
    if (params.at("unroll") > 1) stage.unroll(r[0]);
  }
}

/// The bands, stored row by row: divisions by the pitch would make gathers of vectors. Read by `sum` instead
/// of `pad`.
Func store_by_rows(const Func& pad, const Func& sum, const Tensor& data, const ConvPositions& p) {
  const std::vector<Var> a = pad.args();  // position, phase, channel, z, band, batch
  Func rows(pad.name() + "_in_rows");
  // Without padding, what is not copied is read for sums that nobody reads.
  rows(a) = p.padded ? Halide::Expr(0.0f) : Halide::undef<float>();
  const int before = p.before[2], stride = p.stride[2];
  const auto inside_axis = [](const Halide::Expr& at, int extent) { return clamp(at, 0, extent - 1); };
  // What a result at `x` of the row `r.y` reads in a phase.
  const auto element = [&](Halide::RDom& r, const Halide::Expr& py, const Halide::Expr& x) {
    const Halide::Expr y = (a[4] * p.band + r.y) * p.stride[1] + (py - p.before[1]);
    const Halide::Expr slice = a[3] - p.before[0];
    r.where(y >= 0 && y < p.in[1]);
    if (p.count == 3) r.where(slice >= 0 && slice < p.in[0]);
    std::vector<Halide::Expr> from{a[5], a[2], inside_axis(slice, p.in[0]), inside_axis(y, p.in[1]), x};
    from.erase(from.begin() + 2, from.begin() + 5 - p.count);
    return data(from);
  };
  if (p.phases[1] * p.phases[2] > kWrittenOutPhases) {
    Halide::RDom r(0, p.out[2] + p.reach[2], 0, p.rows(), 0, p.phases[2], 0, p.phases[1], "row");
    const Halide::Expr x = r.x * stride + (r.z - before);
    r.where(x >= 0 && x < p.in[2]);
    const Halide::Expr value = element(r, r.w, inside_axis(x, p.in[2]));
    rows(r.y * p.pitch + r.x, r.w * p.phases[2] + r.z, a[2], a[3], a[4], a[5]) = value;
    replace_calls(sum, pad, rows);
    return rows;
  }
  for (int py = 0; py < p.phases[1]; ++py)
    for (int px = 0; px < p.phases[2]; ++px) {
      const int last = p.in[2] - 1 + before - px, begin = std::max(0, tiles_of(before - px, stride)),
                end = last < 0 ? 0 : std::min(p.out[2] + p.reach[2], last / stride + 1);
      if (begin >= end) continue;
      Halide::RDom r(0, end - begin, 0, p.rows(), "row");
      const Halide::Expr value = element(r, py, (r.x + begin) * stride + (px - before));
      rows(r.y * p.pitch + r.x + begin, py * p.phases[2] + px, a[2], a[3], a[4], a[5]) = value;
    }
  replace_calls(sum, pad, rows);
  return rows;
}

void schedule_bands(Func pad, Func out, const Var& task, const ConvPositions& p, int positions,
                    const DeviceSheet& sheet) {
  const std::vector<Var> a = pad.args();  // position, phase, channel, z, band, batch
  const int lanes = sheet.float_lanes;
  int read = tiles_of(p.positions_read(positions), lanes) * lanes;
  if (int64_t{read} * 4 % kConflictBytes == 0) read += kLineFloats;
  pad.bound_extent(a[0], read).bound_extent(a[1], p.phases[1] * p.phases[2]).vectorize(a[0], lanes);
  if (p.kernel[0] > 1) {  // the slices of one result are also those of its neighbours
    pad.compute_root().parallel(a[2]);
  } else {
    pad.compute_at(out, task).bound_extent(a[2], p.in_per_group);
    for (size_t d = 3; d < a.size(); ++d) pad.bound_extent(a[d], 1);
  }
  for (int update = 0; update < pad.num_update_definitions(); ++update) {
    Halide::Stage stage = pad.update(update);
    const RVar x(stage.get_schedule().rvars().front().var);
    // No two elements are stored to one place.
    stage.allow_race_conditions().vectorize(x, lanes, TailStrategy::GuardWithIf);
    if (p.kernel[0] > 1) stage.parallel(a[2]);
  }
}

void conv_positions_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  const ConvPositions p = positions_of(kernel);
  Func out = output_of(kernel), sum = anchor_stage(kernel, "sums"), pad = anchor_stage(kernel, "pad");
  if (p.one_pixel) {
    schedule_one_pixel(out, sum, pad, p, params, sheet);
    schedule_feeders(kernel, sheet, p.tiles >= kCopiedTiles || p.row > 0);
    return;
  }
  const Var task = schedule_tasks(out, p, sheet);
  sum.compute_at(out, task);
  schedule_sums(sum, p, params, sheet);
  const int width = params.at("vectors") * sheet.float_lanes;
  const Func rows = store_by_rows(pad, sum, anchor_of(kernel).inputs[0], p);
  schedule_bands(rows, out, task, p, tiles_of(p.positions(), width) * width, sheet);
  schedule_feeders(kernel, sheet);
}

LoopCounts conv_positions_loops(const LoopsOf& of, const ScheduleParams& params) {
  const double vectors = loop_param(params, "vectors");
  LoopCounts counts = product_loops(of, 1, vectors);
  if (const auto p = of.positions()) {
    counts.rows = p->tile;
    counts.tiles = double(p->batch) * p->out[0] * p->bands * p->groups * p->tiles *
                   loop_steps(p->positions(), vectors * of.lanes);
  }
  return counts;
}

}  // namespace

const ScheduleTemplate& template_conv_positions() {
  static const ScheduleTemplate def = {
      .name = "conv_positions",
      .doc = "convolution on plain layouts, sums of a tile of positions x channels in registers",
      .refuses = conv_positions_refuses,
      .default_params = conv_positions_default_params,
      .candidates = conv_positions_candidates,
      .apply = conv_positions_apply,
      .loops = conv_positions_loops,
  };
  return def;
}

}  // namespace baton
