// Convolutions and matrix products on GPUs: each thread sums a tile of results in registers. Along the tiled
// axis, results share an operand: the rows of a product share the second operand, the pixels of a row and the
// channels of a convolution its weight or its data, so that each element that a thread loads is used for
// several results. Neighbouring threads compute neighbours along the innermost axis and read next to each
// other. What follows element by element is computed where the sum is, without another pass over memory.
#include <set>

#include "baton/ir/rules/pass_traits.h"
#include "baton/schedule/gpu/naive.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

/// A stage that sums products.
struct TiledSum {
  const char* of_template;  ///< AnchorRule
  const char* stage;
  int axis;  ///< along which a thread sums several results; 0 is the innermost
};

constexpr TiledSum kTiledSums[] = {
    {"conv_direct", "conv2d", 1},  // a row of pixels of a block of channels
    {"conv_plain", "conv2d", 2},   // channels of one pixel
    {"gemm", "dense", 1},          // rows
    {"rows", "dense", 1},         {"matmul", "matmul", 1}, {"matmul", "batch_matmul", 1},
};

constexpr int kLongestTile = 8;

/// The sum of the anchor; null when there is none.
const TiledSum* tiled_sum(const LoweredKernel& kernel) {
  if (kernel.anchor < 0) return nullptr;
  const OpBlock& anchor = anchor_of(kernel);
  const auto* rule = anchor.op->rules.get<AnchorRule>();
  for (const TiledSum& sum : kTiledSums)
    if (rule && rule->of_template == sum.of_template && anchor.stage(sum.stage)) return &sum;
  return nullptr;
}

int tiled_extent(const LoweredKernel& kernel, const TiledSum& sum) {
  return result_extent(kernel, output_of(kernel).dimensions() - 1 - sum.axis);
}

std::string gpu_tiled_refuses(const LoweredKernel& kernel, const DeviceSheet&) {
  const TiledSum* sum = tiled_sum(kernel);
  if (!sum) return "no sum of products in the kernel";
  const std::string reason = refuses_anchor(kernel, sum->of_template, sum->stage, true);
  if (!reason.empty()) return reason;
  const Func out = output_of(kernel), products = anchor_stage(kernel, sum->stage);
  if (out.dimensions() <= sum->axis) return "the result has no axis to tile";
  if (products.dimensions() != out.dimensions() || !products.has_update_definition())
    return "the sum is computed in another form";
  if (products.name() == out.name()) return "the sum is the kernel's output itself";
  if (tiled_extent(kernel, *sum) < 2) return "the axis to tile has one element";
  return "";
}

/// Whether tiles of `tile` fit; otherwise the last one would be shifted over its neighbour, and two threads
/// would write the same elements.
bool divides(int extent, int tile) { return extent % tile == 0; }

ScheduleParams gpu_tiled_default_params(const LoweredKernel& kernel, const DeviceSheet&) {
  return {{"tile", divisor_below(tiled_extent(kernel, *tiled_sum(kernel)), kLongestTile)}};
}

std::vector<ScheduleParams> gpu_tiled_candidates(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  std::vector<ScheduleParams> all{gpu_tiled_default_params(kernel, sheet)};
  for (const int tile : divisors(tiled_extent(kernel, *tiled_sum(kernel))))
    if (tile <= 2 * kLongestTile && all.front().at("tile") != tile) all.push_back({{"tile", tile}});
  return all;
}

void gpu_tiled_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet&) {
  const TiledSum& tiled = *tiled_sum(kernel);
  const int extent = tiled_extent(kernel, tiled);
  const int tile = divides(extent, params.at("tile")) ? params.at("tile") : 1;
  Func out = output_of(kernel), sum = anchor_stage(kernel, tiled.stage);

  // What the sum reads is stored, as in the fallback; what follows it is computed in place.
  std::vector<bool> before(kernel.blocks.size());
  before[kernel.anchor] = true;
  for (size_t i = kernel.blocks.size(); i-- > 0;)
    if (before[i])
      for (const int producer : kernel.blocks[i].producers)
        if (producer >= 0) before[producer] = true;
  std::set<std::string> read;
  for (size_t i = 0; i < kernel.blocks.size(); ++i) {
    if (!before[i]) continue;
    for (const Stage& stage : kernel.blocks[i].stages) read.insert(stage.func.name());
    for (const Func& result : kernel.blocks[i].results) read.insert(result.name());
  }
  for (const Func& result : anchor_of(kernel).results) read.erase(result.name());
  for (const StoredFunc& stored : stored_funcs(kernel))
    if (read.count(stored.func.name()) && stored.func.name() != sum.name() &&
        stored.func.name() != out.name())
      one_thread_per_element(stored.func);

  const std::vector<Var> axes = out.args();
  const Var tiles("tiles"), inside_tile("inside_tile"), block("block"), thread("thread");
  out.compute_root().split(axes[tiled.axis], tiles, inside_tile, tile, TailStrategy::RoundUp);
  std::vector<Var> loops;
  for (int axis = 0; axis < static_cast<int>(axes.size()); ++axis)
    loops.push_back(axis == tiled.axis ? tiles : axes[axis]);
  std::vector<VarOrRVar> order{inside_tile};
  order.insert(order.end(), loops.begin(), loops.end());
  out.reorder(order);
  Var item = loops.front();
  for (size_t i = 1; i < loops.size(); ++i) {
    const Var joined("item" + std::to_string(i));
    out.fuse(item, loops[i], joined);
    item = joined;
  }
  out.gpu_tile(item, block, thread, kThreadsPerBlock, TailStrategy::GuardWithIf).unroll(inside_tile);

  const Var results = sum.args()[tiled.axis];
  sum.compute_at(out, thread).bound_extent(results, tile).unroll(results);
  for (int i = 0; i < sum.num_update_definitions(); ++i) {
    Halide::Stage update = sum.update(i);
    std::vector<VarOrRVar> inner{results};
    for (const Halide::Internal::Dim& dim : update.get_schedule().dims())
      if (dim.is_rvar()) inner.push_back(Halide::RVar(dim.var));
    update.reorder(inner).unroll(results);
  }
}

}  // namespace

const ScheduleTemplate& template_gpu_tiled() {
  static const ScheduleTemplate def = {
      .name = "gpu_tiled",
      .doc = "convolutions and matrix products: each thread sums a tile of results in registers",
      .refuses = gpu_tiled_refuses,
      .default_params = gpu_tiled_default_params,
      .candidates = gpu_tiled_candidates,
      .apply = gpu_tiled_apply,
  };
  return def;
}

}  // namespace baton
