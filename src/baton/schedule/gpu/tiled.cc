// Convolutions and matrix products on GPUs: each thread sums a tile of results in registers. Along the tiled
// axis, results share an operand: the rows of a product share the second operand, the pixels of a row and the
// channels of a convolution its weight or its data, so that each element that a thread loads is used for
// several results. Neighbouring threads compute neighbours along the innermost axis and read next to each
// other. What follows element by element is computed where the sum is, without another pass over memory.
#include <algorithm>
#include <map>
#include <set>

#include "baton/ir/rules/pass_traits.h"
#include "baton/schedule/gpu/naive.h"
#include "baton/schedule/gpu/parts.h"

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
  int axis;    ///< along which a thread sums several results; 0 is the innermost
  int second;  ///< the same for the other operand; -1: there is none
  bool wide;   ///< whether the second operand's neighbours along the innermost axis lie next to each other
};

constexpr TiledSum kTiledSums[] = {
    {"conv_direct", "conv2d", 1, 3, true},  // pixels of a row, and blocks of channels
    {"conv_plain", "conv2d", 2, 1, false},  // channels, and pixels of a column
    {"gemm", "dense", 1, -1, false},        // rows
    {"rows", "dense", 1, -1, false},          {"matmul", "matmul", 1, -1, false},
    {"matmul", "batch_matmul", 1, -1, false},
};

/// Results per thread where threads are loops.
constexpr int kLongestOfLoops = 8;

/// The sum of the anchor; null when there is none.
const TiledSum* tiled_sum(const LoweredKernel& kernel) {
  if (kernel.anchor < 0) return nullptr;
  const OpBlock& anchor = anchor_of(kernel);
  const auto* rule = anchor.op->rules.get<AnchorRule>();
  for (const TiledSum& sum : kTiledSums)
    if (rule && rule->of_template == sum.of_template && anchor.stage(sum.stage)) return &sum;
  return nullptr;
}

/// The extent of the result along `axis`, 0 the innermost; 1 for an axis that is not there.
int extent_along(const LoweredKernel& kernel, int axis) {
  return axis < 0 ? 1 : result_extent(kernel, output_of(kernel).dimensions() - 1 - axis);
}

std::string gpu_tiled_refuses(const LoweredKernel& kernel, const DeviceSheet&) {
  const TiledSum* sum = tiled_sum(kernel);
  if (!sum) return "no sum of products in the kernel";
  const std::string reason = refuses_anchor(kernel, sum->of_template, sum->stage, true);
  if (!reason.empty()) return reason;
  const Func out = output_of(kernel), products = anchor_stage(kernel, sum->stage);
  if (out.dimensions() <= std::max(sum->axis, sum->second)) return "the result has no axis to tile";
  if (products.dimensions() != out.dimensions() || !products.has_update_definition())
    return "the sum is computed in another form";
  if (products.name() == out.name()) return "the sum is the kernel's output itself";
  if (extent_along(kernel, sum->axis) < 2) return "the axis to tile has one element";
  return "";
}

/// The reduction loops of the sum, innermost first; empty where not all of them are constant.
std::vector<int> term_extents(const Func& sum) {
  std::vector<int> extents;
  for (const auto& each : sum.function().update(0).schedule().rvars()) {
    const auto extent = Halide::Internal::as_const_int(Halide::Internal::simplify(each.extent));
    if (!extent) return {};
    extents.push_back(static_cast<int>(*extent));
  }
  return extents;
}

ProductsOnGpu products_of(const LoweredKernel& kernel) {
  const TiledSum& tiled = *tiled_sum(kernel);
  const Func sum = anchor_stage(kernel, tiled.stage);
  ProductsOnGpu products;
  for (int axis = 0; axis < output_of(kernel).dimensions(); ++axis)
    products.results *= extent_along(kernel, axis);
  const std::vector<int> terms = term_extents(sum);
  for (const int extent : terms) products.terms *= extent;
  products.extent = extent_along(kernel, tiled.axis);
  products.second_extent = extent_along(kernel, tiled.second);
  products.wide = tiled.wide && extent_along(kernel, 0) % kWideLoad == 0;
  // The innermost of several loops stays whole.
  if (can_be_split(sum, 0))
    products.most_parts = std::max<int64_t>(1, products.terms / (terms.size() > 1 ? terms[0] : kTermsAtOnce));
  return products;
}

ScheduleParams params_of(const PartsOnGpu& parts) {
  return {{"tile", parts.tile}, {"second", parts.second}, {"wide", parts.wide}, {"split", parts.split}};
}

ScheduleParams gpu_tiled_default_params(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const ProductsOnGpu products = products_of(kernel);
  if (wanted_threads(sheet) == 1) return params_of({divisor_below(products.extent, kLongestOfLoops)});
  return params_of(best_parts(products, sheet).front());
}

std::vector<ScheduleParams> gpu_tiled_candidates(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  constexpr double kFarthest = 2;  // of the least expected time
  const ProductsOnGpu products = products_of(kernel);
  std::vector<ScheduleParams> all{gpu_tiled_default_params(kernel, sheet)};
  std::vector<PartsOnGpu> others;
  if (wanted_threads(sheet) > 1) {
    others = best_parts(products, sheet, kFarthest);
  } else {
    for (const int tile : divisors(products.extent))
      if (tile <= 2 * kLongestOfLoops) others.push_back({tile});
  }
  for (const PartsOnGpu& each : others)
    if (ScheduleParams params = params_of(each); params != all.front()) all.push_back(std::move(params));
  return all;
}

/// Stores `stored` by threads that compute a tile of it each: `sum`, in registers. `extents`: of the result.
void store_tiles(Func stored, Func sum, const TiledSum& tiled, const PartsOnGpu& parts,
                 const std::vector<int>& extents) {
  const std::vector<Var> axes = stored.args(), sums = sum.args();
  std::vector<std::pair<int, int>> tiles{{tiled.axis, parts.tile}};
  if (tiled.second >= 0) tiles.emplace_back(tiled.second, parts.second);
  if (parts.wide > 1) tiles.emplace_back(0, parts.wide);

  std::vector<VarOrRVar> order;
  std::vector<Var> loops = axes;
  stored.compute_root();
  for (const auto& [axis, tile] : tiles) {
    const Var tile_at("tile_at" + std::to_string(axis)), in_tile("in_tile" + std::to_string(axis));
    // A last tile that is shifted over its neighbour has the same results.
    stored.split(axes[axis], tile_at, in_tile, tile, inside(extents[axis], tile));
    loops[axis] = tile_at;
    order.insert(axis == 0 ? order.begin() : order.end(), in_tile);
  }
  const std::vector<VarOrRVar> in_tiles = order;
  order.insert(order.end(), loops.begin(), loops.end());
  stored.reorder(order);
  Var item = loops.front();
  for (size_t i = 1; i < loops.size(); ++i) {
    const Var joined("item" + std::to_string(i));
    stored.fuse(item, loops[i], joined);
    item = joined;
  }
  const Var block("block"), thread("thread");
  stored.gpu_tile(item, block, thread, kThreadsPerBlock, TailStrategy::GuardWithIf);
  sum.compute_at(stored, thread);
  // Constants, or the memory of a thread has a size that is computed.
  std::vector<int> of_thread(axes.size(), 1);
  for (const auto& [axis, tile] : tiles) of_thread[axis] = tile;
  for (size_t axis = 0; axis < axes.size(); ++axis) sum.bound_extent(sums[axis], of_thread[axis]);

  const auto in_registers = [&](Halide::Stage stage, const std::vector<VarOrRVar>& tile) {
    for (size_t i = 0; i < tile.size(); ++i)
      parts.wide > 1 && i == 0 ? stage.vectorize(tile[i]) : stage.unroll(tile[i]);
  };
  std::vector<VarOrRVar> results;
  for (const auto& [axis, tile] : tiles)
    results.insert(axis == 0 ? results.begin() : results.end(), VarOrRVar(sums[axis]));
  in_registers(stored, in_tiles);
  in_registers(sum, results);
  for (int i = 0; i < sum.num_update_definitions(); ++i) {
    Halide::Stage update = sum.update(i);
    std::vector<VarOrRVar> loops_of_sum = results;
    for (const Halide::Internal::Dim& dim : update.get_schedule().dims())
      if (dim.is_rvar()) loops_of_sum.push_back(Halide::RVar(dim.var));
    for (const Var& each : sums)
      if (std::ranges::none_of(results, [&](const VarOrRVar& in) { return in.name() == each.name(); }))
        loops_of_sum.emplace_back(each);
    update.reorder(loops_of_sum);
    in_registers(update, results);
  }
}

/// The loops whose iterations are parts of a sum, innermost first, and the innermost of those within a part.
struct SumParts {
  std::vector<std::pair<Halide::RVar, Var>> loops;
  std::map<std::string, int> extents;
  Halide::RVar innermost;
  int innermost_extent = 1;
};

/// Splits the outermost loop into up to `parts`. Where it has fewer iterations, those of the next ones (taps
/// of a window) are parts, too. The innermost loop stays whole, unless it is the only one.
SumParts split_sum(Func sum, const std::vector<int>& terms, int parts) {
  const auto variables = sum.rvars();
  const auto loop_at = [&](size_t i) { return Halide::RVar(variables[i].name()); };
  SumParts split;
  split.innermost = loop_at(0), split.innermost_extent = terms[0];
  const size_t last = terms.size() - 1;
  int taps = 1;
  for (size_t i = last; i-- > 1 && terms[last] * taps < parts;) {
    split.loops.insert(split.loops.begin(), {loop_at(i), Var("lane" + std::to_string(i))});
    split.extents[loop_at(i).name()] = terms[i];
    taps *= terms[i];
  }
  const Halide::RVar part("part"), term("term");
  const int length = tiles_of(terms[last], std::min(terms[last], tiles_of(parts, taps)));
  sum.update().split(loop_at(last), part, term, length, TailStrategy::GuardWithIf);
  split.loops.emplace_back(part, Var("lane"));
  split.extents[part.name()] = tiles_of(terms[last], length);
  if (last == 0) split.innermost = term, split.innermost_extent = length;
  return split;
}

/// The data of a sum whose terms, channels of a pixel, lie next to each other, so that one instruction loads
/// several; undefined otherwise.
Func wide_data(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const TiledSum& tiled = *tiled_sum(kernel);
  const Func sum = anchor_stage(kernel, tiled.stage);
  const std::vector<int> terms = term_extents(sum);
  if (wanted_threads(sheet) == 1 || !tiled.wide || terms.empty() || terms.front() % kWideLoad != 0) return {};
  const OpBlock& anchor = anchor_of(kernel);
  const Func* stored = stored_data(anchor);
  const Func data = stored ? *stored : anchor.inputs[0].func();
  const bool is_wide =
      data.defined() && data.types().front().bits() == 32 && sum.types().front().bits() == 32;
  return is_wide ? data : Func();
}

/// Has the loads of up to `most` terms under way together. `loop`: the innermost of the sum's reduction.
void load_together(Func sum, Func data, const Halide::RVar& loop, int extent, int most) {
  const Halide::RVar others("others"), together("together");
  sum.update().split(loop, others, together, divisor_below(extent, most)).unroll(together);
  if (!data.defined()) return;
  Func loaded = data.in(sum);
  const std::vector<Var> axes = loaded.args();
  const Var wide("wide");
  loaded.compute_at(sum, others).split(axes[0], axes[0], wide, kWideLoad).vectorize(wide);
  for (const Var& axis : axes) loaded.unroll(axis);
  // Padding is a condition in place: no loops for the inside of the data.
  sum.update().never_partition_all();
}

/// Parameters may be of another kernel, or of a version that had fewer.
PartsOnGpu parts_from(const ScheduleParams& params, const ProductsOnGpu& products) {
  const auto param = [&](const char* name, int most) {
    return params.contains(name) ? std::clamp(params.at(name), 1, most) : 1;
  };
  return {param("tile", products.extent), param("second", products.second_extent),
          products.wide && param("wide", kWideLoad) == kWideLoad ? kWideLoad : 1,
          param("split", static_cast<int>(products.most_parts))};
}

void gpu_tiled_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  const TiledSum& tiled = *tiled_sum(kernel);
  const PartsOnGpu parts = parts_from(params, products_of(kernel));
  Func out = output_of(kernel), sum = anchor_stage(kernel, tiled.stage);
  std::vector<int> extents;
  for (int axis = 0; axis < out.dimensions(); ++axis) extents.push_back(extent_along(kernel, axis));

  // What the sum reads is stored, as in the fallback; what follows it is computed in place.
  std::set<std::string> read = read_by_anchor(kernel);
  for (const Stage& stage : anchor_of(kernel).stages) read.insert(stage.func.name());
  for (const Func& result : anchor_of(kernel).results) read.erase(result.name());
  const Func data = wide_data(kernel, sheet), *padded = anchor_of(kernel).stage("pad");
  // A launch of its own would take longer than conditions where data are loaded. What others compute in this
  // kernel is not computed again for each tap.
  if (padded && data.defined() && anchor_of(kernel).producers[0] < 0) read.erase(padded->name());
  read.erase(sum.name());
  read.erase(out.name());
  StoredLaunches(kernel, sheet).store(read);

  const std::vector<int> terms = term_extents(sum);
  const int most_at_once = wanted_threads(sheet) > 1 && !terms.empty() ? kTermsAtOnce : 1;
  const Halide::RVar first(sum.rvars().front().name());
  if (parts.split == 1 || !can_be_split(sum, 0)) {
    store_tiles(out, sum, tiled, parts, extents);
    if (most_at_once > 1) load_together(sum, data, first, terms.front(), most_at_once);
    return;
  }
  // Parts by threads of their own, and another launch that joins them.
  const SumParts split = split_sum(sum, terms, parts.split);
  Func partial = sum.update().rfactor(split.loops);
  store_tiles(partial.in(sum), partial, tiled, parts, extents);
  load_together(partial, data, split.innermost, split.innermost_extent, most_at_once);
  int together = 1;
  for (const auto& [loop, lane] : split.loops) {
    const int at_once = divisor_below(split.extents.at(loop.name()), kPartsAtOnce / together);
    sum.update().unroll(loop, at_once);
    together *= at_once;
  }
  one_thread_per_element(out);
  sum.compute_at(out, Var("thread"));
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
      .loops = vector_loops,
  };
  return def;
}

}  // namespace baton
