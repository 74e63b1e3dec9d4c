// Pools, both windowed and global: a tile of results is reduced in registers, with vectors along the
// innermost axis (the channels of a packed layout, the columns of a plain one).
#include <algorithm>

#include "baton/schedule/common.h"
#include "baton/schedule/regions.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::Var;
using Halide::VarOrRVar;

constexpr int kUnrolledTaps = 16;

/// The reduction stage: the one with an update. Null when there are none or several.
const Func* reduction_of(const OpBlock& block) {
  const Func* found = nullptr;
  for (const Stage& stage : block.stages) {
    if (!stage.func.has_update_definition()) continue;
    if (found) return nullptr;
    found = &stage.func;
  }
  return found;
}

bool packed(const LoweredKernel& kernel) { return anchor_of(kernel).results.front().dimensions() == 5; }

std::string pool_refuses(const LoweredKernel& kernel, const DeviceSheet&) {
  if (kernel.anchor < 0) return "no heavy operator in the kernel";
  const Func* reduction = reduction_of(anchor_of(kernel));
  if (!reduction) return anchor_of(kernel).op->name + " is another template's";
  std::string stage;
  for (const Stage& s : anchor_of(kernel).stages)
    if (s.func.name() == reduction->name()) stage = s.name;
  const std::string reason = refuses_anchor(kernel, "pool", stage, true);
  if (!reason.empty()) return reason;
  const Halide::Type type = reduction->types().front();
  if (type != Halide::Float(32) && !(type.is_int_or_uint() && type.bits() >= 8 && type.bits() <= 32))
    return "neither float32 nor integers of up to 32 bits";
  const Func& result = anchor_of(kernel).results.front();
  if (result.name() == reduction->name()) return "the reduction is the result itself";
  if (result.dimensions() < 4) return "fewer than 4 axes";
  return packed(kernel) && result_dim(kernel, 4).is_symbolic() ? "the block of channels is no number" : "";
}

/// Reductions side by side that hide the latency of one.
constexpr int kPoolChains = 4;
/// Tasks that remain where blocks of channels are reduced side by side.
constexpr int kPoolTasks = 8;

/// Blocks of channels reduced side by side: several where a row has few results (one, of a global pool).
int pool_blocks(const LoweredKernel& kernel, int tile_x) {
  const int blocks = result_extent(kernel, 1), tasks = blocks * result_extent(kernel, 0);
  return std::clamp(std::min(kPoolChains / tile_x, tasks / kPoolTasks), 1, blocks);
}

ScheduleParams pool_default_params(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const int inner = result_extent(kernel, packed(kernel) ? 4 : 3);
  if (!packed(kernel)) return {{"vector", std::min(sheet.float_lanes, inner)}, {"tile_x", 1}, {"tile_c", 1}};
  // Enough independent reductions to hide their latency.
  const int width = result_extent(kernel, 3);
  int tile = 1;
  for (int x = 1; x <= std::min(8, width); ++x)
    if (tiles_of(width, x) * x * tile <= tiles_of(width, tile) * tile * x || width % x == 0) tile = x;
  return {{"vector", inner}, {"tile_x", tile}, {"tile_c", pool_blocks(kernel, tile)}};
}

std::vector<ScheduleParams> pool_candidates(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  std::vector<ScheduleParams> all{pool_default_params(kernel, sheet)};
  if (!packed(kernel)) return all;
  for (int x : {1, 2, 4, 7, 8, 14}) {
    ScheduleParams params = all.front();
    params["tile_x"] = x;
    params["tile_c"] = pool_blocks(kernel, x);
    if (x <= result_extent(kernel, 3) && params != all.front()) all.push_back(std::move(params));
  }
  return all;
}

/// Bytes of padded data that are kept at a time: they stay in the first-level cache.
constexpr int kPaddedBytes = 16 << 10;

/// Rows of so many vectors, or of as many as a window has taps, are stored with their padding: at the edges
/// of others each tap is read element by element, which takes as long as copying a vector per tap.
constexpr int64_t kEdgeVectors = 3;

/// Stores the padded data, plane by plane or in bands of rows, so that vectors along a row read it without
/// clamping their indices. Short rows would otherwise consist of edges, read element by element. Returns
/// false for long rows, and those without padding.
bool store_padding(const LoweredKernel& kernel, Func out, const Func& reduction, const Var& task,
                   int64_t taps, const DeviceSheet& sheet) {
  const Func* pad = anchor_of(kernel).stage("pad");
  if (!kernel.is_static()) return false;  // regions are of numbers
  if (tiles_of(result_extent(kernel, 3), sheet.float_lanes) > std::max(kEdgeVectors, taps)) return false;
  const auto loops = pad ? loops_read(reduction, loops_over(kernel.outputs.front()), *pad) : std::nullopt;
  const auto regions = loops ? find_regions(*pad, *loops) : std::nullopt;
  if (!regions || regions->dim != 0) return false;
  RegionCopy copy = copy_by_regions(*pad, reduction, *loops, *regions);
  Func padded = copy.func;
  for (RegionLoops& region : copy.regions) {
    const int width =
        std::min(lanes_of(padded.types().front(), sheet), static_cast<int>(region.extents[0].value()));
    region.stage.vectorize(region.loops[0], width, Halide::TailStrategy::GuardWithIf);
  }
  const int row = (*loops)[0].extent * padded.types().front().bytes(), rows = (*loops)[1].extent;
  const int height = result_extent(kernel, 2), band = kPaddedBytes * height / (row * rows);
  if (band >= height) {
    padded.compute_at(out, task);
  } else {
    const Var yo("yo"), yi("yi");
    const int step = std::max(band, std::min(4, height));
    out.split(out.args()[1], yo, yi, step, inside(height, step));
    padded.compute_at(out, yo);
  }
  return true;
}

void pool_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  Func out = output_of(kernel), sum = *reduction_of(anchor_of(kernel));
  const std::vector<Var> i = out.args();
  const Var xo("xo"), xi("xi");
  const int axes = static_cast<int>(i.size()), outer = axes - 2;
  const std::vector<Var> s = sum.args();
  const int tile_c = params.at("tile_c");
  std::vector<VarOrRVar> order(s.begin(), s.begin() + (packed(kernel) ? 2 : 1));
  if (tile_c > 1) order.push_back(s[3]);
  int64_t taps = 1;
  for (const Halide::Internal::ReductionVariable& r : sum.update().get_schedule().rvars()) {
    order.push_back(RVar(r.var));
    if (const auto* extent = r.extent.as<Halide::Internal::IntImm>())
      taps *= extent->value;
    else
      taps = kUnrolledTaps + 1;
  }
  for (size_t d = packed(kernel) ? 2 : 1; d < s.size(); ++d)
    if (d != 3 || tile_c == 1) order.push_back(s[d]);
  // The operator's last stage is inlined into the output (or is the output); reductions are computed at its
  // tiles.
  Halide::Stage update = sum.update();
  update.reorder(order);
  if (packed(kernel)) {
    const int width = result_extent(kernel, 3), tile = std::min(params.at("tile_x"), width);
    out.split(i[1], xo, xi, tile, inside(kernel, result_dim(kernel, 3), tile))
        .reorder(i[0], xi, xo, i[2], i[3], i[4])
        .vectorize(i[0])
        .unroll(xi);
    sum.compute_at(out, xo).bound_extent(s[0], as_expr(result_dim(kernel, 4))).vectorize(s[0]).unroll(s[1]);
    update.vectorize(s[0]).unroll(s[1]);
    if (tile_c > 1) {
      const Var inner("inner");
      out.split(i[3], i[3], inner, tile_c, inside(kernel, result_dim(kernel, 1), tile_c))
          .reorder(i[0], inner, xi, xo, i[2], i[3], i[4])
          .unroll(inner);
      sum.unroll(s[3]);
      update.unroll(s[3]);
    }
  } else {
    const int width = result_extent(kernel, 3), vector = std::min(params.at("vector"), width);
    out.split(i[0], xo, xi, vector, inside(kernel, result_dim(kernel, 3), vector)).vectorize(xi);
    sum.compute_at(out, xo).vectorize(s[0]);
    update.vectorize(s[0]);
  }
  if (taps <= kUnrolledTaps)
    for (const Halide::Internal::ReductionVariable& r : sum.update().get_schedule().rvars())
      update.unroll(RVar(r.var));
  const Var task("task");
  out.fuse(i[outer], i[outer + 1], task).parallel(task);
  const bool padded = !packed(kernel) && store_padding(kernel, out, sum, task, taps, sheet);
  schedule_feeders(kernel, sheet, padded);
}

}  // namespace

const ScheduleTemplate& template_pool() {
  static const ScheduleTemplate def = {
      .name = "pool",
      .doc = "pools, reduced in registers, vectors along the innermost axis",
      .refuses = pool_refuses,
      .default_params = pool_default_params,
      .candidates = pool_candidates,
      .apply = pool_apply,
      .loops = pixel_loops,
      .usual = {56, 7, 1},  // most images are a multiple of 7 pixels wide, after some halvings
  };
  return def;
}

}  // namespace baton
