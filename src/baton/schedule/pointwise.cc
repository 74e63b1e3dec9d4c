// Kernels without an anchor: everything is inlined into one loop nest per output.
#include <algorithm>

#include "baton/schedule/common.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::Var;

/// Shorter innermost axes are unrolled and the next axis is vectorised.
constexpr int kShortAxis = 4;

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

ScheduleParams pointwise_default_params(const LoweredKernel&, const DeviceSheet&) { return {{"unroll", 4}}; }

std::vector<ScheduleParams> pointwise_candidates(const LoweredKernel&, const DeviceSheet&) {
  return {{{"unroll", 4}}, {{"unroll", 1}}, {{"unroll", 2}}, {{"unroll", 8}}};
}

void pointwise_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  Func out = output_of(kernel);
  const std::vector<int64_t>& shape = kernel.outputs.front().shape();
  const std::vector<Var> i = out.args();
  const int rank = static_cast<int>(i.size());
  auto extent = [&](int dim) { return static_cast<int>(shape[rank - 1 - dim]); };  // in Halide's order
  if (rank == 0) return;
  const int lanes = lanes_of(out.types().front(), sheet);
  const Var vector("v"), group("g"), more("u");
  int used = 1;  // dimensions used by the inner loops
  if (rank > 1 && extent(0) < kShortAxis && extent(1) > extent(0)) {
    const int width = std::min(lanes, extent(1));
    out.split(i[1], i[1], vector, width, guarded(extent(1), width))
        .reorder(i[0], vector)
        .vectorize(vector)
        .unroll(i[0]);
    used = 2;
  } else {
    const int width = std::min(lanes, extent(0)), count = tiles_of(extent(0), width);
    const int unroll = divisor_below(extent(0) % width == 0 ? count : 1, params.at("unroll"));
    out.split(i[0], i[0], vector, width, guarded(extent(0), width)).vectorize(vector);
    if (unroll > 1)
      out.split(i[0], i[0], more, unroll).unroll(more);
    else if (rank > 1 && count == 1) {
      const int next = divisor_below(extent(1), params.at("unroll"));
      if (next > 1) out.split(i[1], i[1], more, next).reorder(vector, more).unroll(more);
    }
  }
  int64_t elements = 1;
  for (int64_t e : shape) elements *= e;
  if (elements < kParallelElements) return;
  for (int dim = rank - 1; dim >= used; --dim)
    if (extent(dim) > 1) {
      out.parallel(i[dim]);
      return;
    }
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
  };
  return def;
}

}  // namespace baton
