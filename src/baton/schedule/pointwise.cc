// Kernels without an anchor: everything is inlined into one loop nest, or into one per region of the output
// (regions.h).
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "baton/schedule/common.h"
#include "baton/schedule/regions.h"
#include "baton/schedule/transposed_reads.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

/// Loops over more regions than these are not unrolled.
constexpr int kUnrolledRegions = 4;
/// Shorter innermost axes are unrolled and the next axis is vectorised.
constexpr int kShortAxis = 4;
/// Vectors of a tile that is read along one loop and written along another: the tile stays in registers.
constexpr int kTransposed = 8;

std::string pointwise_refuses(const LoweredKernel& kernel, const DeviceSheet&) {
  if (kernel.anchor >= 0) return anchor_of(kernel).op->name + " is another template's";
  if (kernel.outputs.size() != 1) return "more than one output";
  const std::string empty = refuses_empty(kernel);
  if (!empty.empty()) return empty;
  for (const OpBlock& block : kernel.blocks) {
    if (block.op->fuse > Fuse::kInjective && block.op->fuse != Fuse::kTuple)
      return block.op->name + " is not element by element";
    for (const Stage& stage : block.stages)
      if (stage.func.has_update_definition()) return block.op->name + " has a reduction";
  }
  // Inlining a shared value into several users duplicates its work; in a chain of such values the work
  // doubles at each.
  int shared = 0;
  for (const OpBlock& block : kernel.blocks) shared += block.consumers > 1;
  return shared > 3 ? "more than 3 values have several readers" : "";
}

/// How many elements of tensors one element of a stage is computed of, with all that is inlined into it.
class CountsLoads final : public Halide::Internal::IRVisitor {
 public:
  int64_t of(const Halide::Internal::Function& function) {
    const auto [at, is_new] = known_.try_emplace(function.name(), 0);
    if (!is_new) return at->second;
    const int64_t outside = std::exchange(count_, 0);
    for (const Halide::Expr& value : function.values()) value.accept(this);
    return known_[function.name()] = std::exchange(count_, outside);
  }

 private:
  using IRVisitor::visit;
  void visit(const Halide::Internal::Call* node) override {
    IRVisitor::visit(node);
    if (node->call_type == Halide::Internal::Call::Image) ++count_;
    if (node->func.defined()) count_ += of(Halide::Internal::Function(node->func));
  }
  std::map<std::string, int64_t> known_;
  int64_t count_ = 0;
};

ScheduleParams pointwise_default_params(const LoweredKernel& kernel, const DeviceSheet&) {
  // Of long code copies save nothing, and take long to compile: 15 s instead of 2 for a bicubic sampling
  // whose extents are symbolic, as each copy is guarded lane by lane.
  constexpr int64_t kManyLoads = 8;
  const int64_t loads = CountsLoads().of(output_of(kernel).function());
  return {{"unroll", loads > kManyLoads ? 1 : 4}};
}

std::vector<ScheduleParams> pointwise_candidates(const LoweredKernel&, const DeviceSheet&) {
  return {{{"unroll", 4}}, {{"unroll", 1}}, {{"unroll", 2}}, {{"unroll", 8}}};
}

/// `name` as a loop that comes from splitting `of`: a split of a reduction variable gives such variables.
VarOrRVar split_of(const VarOrRVar& of, const char* name) {
  return of.is_rvar ? VarOrRVar(RVar(name)) : VarOrRVar(Var(name));
}

/// The tail strategy of a split of `loop`; what a reduction variable steps over must stay exact.
TailStrategy guarded(const VarOrRVar& loop, Dim extent, int factor) {
  return loop.is_rvar ? TailStrategy::GuardWithIf : baton::guarded(extent, factor);
}

struct NestOptions {
  int lanes = 1, most_unrolled = 1;
  int64_t least_parallel = kParallelElements;
  std::optional<TransposedLoop> along = {};  ///< the loop that the data are contiguous along
  bool may_overlap = true;                   ///< elements may be computed twice: not in a region
};

/// Tiles of vectors along the innermost loop x iterations of the loop along which the data are contiguous:
/// what one line of the data holds is used at once. In order, all of the data would be read once per
/// iteration of that loop. Returns the iterations that this loop has left.
int schedule_tiles(LoweredKernel& kernel, Halide::Stage stage, const std::vector<VarOrRVar>& loops,
                   const std::vector<Dim>& dims, const std::vector<int>& extents,
                   const NestOptions& options) {
  const auto dim = static_cast<size_t>(options.along->dim);
  const int length = options.along->length, width = std::min(options.lanes, extents[0]);
  const int count =
      length < extents[dim] ? divisor_below(length, kTransposed) : std::min(extents[dim], kTransposed);
  const auto tail = [&](const VarOrRVar& loop, Dim extent, int factor) {
    return options.may_overlap ? inside(kernel, extent, factor) : guarded(loop, extent, factor);
  };
  const VarOrRVar vector = split_of(loops[0], "v"), unrolled = split_of(loops[dim], "u");
  stage.split(loops[0], loops[0], vector, width, tail(loops[0], dims[0], width))
      .split(loops[dim], loops[dim], unrolled, count, tail(loops[dim], dims[dim], count));
  std::vector<VarOrRVar> order{vector, unrolled};
  order.insert(order.end(), loops.begin(), loops.end());
  stage.reorder(order).vectorize(vector).unroll(unrolled);
  return tiles_of(extents[dim], count);
}

/// Vectors along the innermost loop, or along the next one where it is short, in the order of the loops.
/// Returns the number of loops that these use.
size_t schedule_in_order(Halide::Stage stage, const std::vector<VarOrRVar>& loops,
                         const std::vector<Dim>& dims, const std::vector<int>& extents,
                         const NestOptions& options) {
  const size_t rank = loops.size();
  if (rank > 1 && !dims[0].is_symbolic() && extents[0] < kShortAxis && extents[1] > extents[0]) {
    const int width = std::min(options.lanes, extents[1]);
    const VarOrRVar vector = split_of(loops[1], "v");
    stage.split(loops[1], loops[1], vector, width, guarded(loops[1], dims[1], width))
        .reorder({loops[0], vector})
        .vectorize(vector)
        .unroll(loops[0]);
    return 2;
  }
  const int width = std::min(options.lanes, extents[0]), count = tiles_of(extents[0], width);
  const int unroll = dims[0].is_symbolic()
                         ? std::min(count, options.most_unrolled)
                         : divisor_below(extents[0] % width == 0 ? count : 1, options.most_unrolled);
  const VarOrRVar vector = split_of(loops[0], "v");
  stage.split(loops[0], loops[0], vector, width, guarded(loops[0], dims[0], width)).vectorize(vector);
  if (unroll > 1) {
    const VarOrRVar more = split_of(loops[0], "u");
    if (dims[0].is_symbolic()) {
      // Another name: the guards of both splits are of what they split.
      const VarOrRVar groups = split_of(loops[0], "g");
      stage.split(loops[0], groups, more, unroll, TailStrategy::GuardWithIf).unroll(more);
    } else {
      stage.split(loops[0], loops[0], more, unroll, guarded(loops[0], Dim(unroll), unroll)).unroll(more);
    }
  } else if (rank > 1 && count == 1 && !dims[1].is_symbolic()) {
    const int next = divisor_below(extents[1], options.most_unrolled);
    const VarOrRVar more = split_of(loops[1], "u");
    if (next > 1)
      stage.split(loops[1], loops[1], more, next, guarded(loops[1], next, next))
          .reorder({vector, more})
          .unroll(more);
  }
  return 1;
}

/// As a float32, since their number may not fit into 32 bits; small ones are exact.
Halide::Expr elements_expr(const std::vector<Dim>& dims) {
  Halide::Expr all = 1.0f;
  for (const Dim& dim : dims) all = all * Halide::cast<float>(as_expr(dim));
  return all;
}

/// Schedules one loop nest, its outermost loop in parallel from `least_parallel` elements on. `loops` and
/// `extents`: innermost first.
void schedule_nest(LoweredKernel& kernel, Halide::Stage stage, const std::vector<VarOrRVar>& loops,
                   const std::vector<Dim>& dims, const NestOptions& options) {
  int64_t elements = 1;
  std::vector<int> extents;
  for (const int64_t extent : usual_shape(kernel, dims)) {
    extents.push_back(static_cast<int>(extent));
    elements *= extent;
  }
  size_t used = 1;
  if (options.along && extents[0] >= kShortAxis)
    extents[static_cast<size_t>(options.along->dim)] =
        schedule_tiles(kernel, stage, loops, dims, extents, options);
  else
    used = schedule_in_order(stage, loops, dims, extents, options);
  if (elements < options.least_parallel && kernel.is_static()) return;
  for (size_t dim = loops.size(); dim-- > used;)
    if (extents[dim] > 1) {
      if (!kernel.is_static())
        stage.specialize(elements_expr(dims) < static_cast<float>(options.least_parallel));
      stage.parallel(loops[dim]);
      return;
    }
}

void pointwise_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  Func out = output_of(kernel);
  if (out.dimensions() == 0) return;
  const std::vector<int64_t> shape = usual_shape(kernel, kernel.outputs.front().dims());
  const std::vector<LoopRange> loops = loops_over(kernel.outputs.front(), shape);
  NestOptions options{.lanes = lanes_of(out.types().front(), sheet),
                      .most_unrolled = params.at("unroll"),
                      .along = find_transposed_loop(out, loops)};
  if (const auto regions = find_regions(out, loops)) {
    options.may_overlap = false;
    // Code for many regions takes long to compile, and each parallel loop waits for its threads.
    if (regions->count() > kUnrolledRegions)
      options.most_unrolled = 1, options.least_parallel = 4 * kParallelElements;
    for (const RegionLoops& region : define_by_regions(out, loops, *regions))
      schedule_nest(kernel, region.stage, region.loops, region.extents, options);
    return;
  }
  const std::vector<Var> args = out.args();
  const std::vector<Dim>& dims = kernel.outputs.front().dims();
  schedule_nest(kernel, out, {args.begin(), args.end()}, {dims.rbegin(), dims.rend()}, options);
}

}  // namespace

const ScheduleTemplate& template_pointwise() {
  static const ScheduleTemplate def = {
      .name = "pointwise",
      .doc = "operators that work element by element, in one loop nest",
      .refuses = pointwise_refuses,
      .default_params = pointwise_default_params,
      .candidates = pointwise_candidates,
      .apply = pointwise_apply,
      .loops = vector_loops,
  };
  return def;
}

}  // namespace baton
