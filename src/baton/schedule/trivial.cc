// The fallback schedule, valid for every kernel and tuned for none: every stage gets its own loop nest,
// except elementwise blocks with one user, which are inlined. It is the reference for testing the other
// templates, and the schedule used by constant folding.
#include <algorithm>
#include <set>

#include "baton/schedule/common.h"
#include "baton/schedule/template.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::TailStrategy;
using Halide::VarOrRVar;

/// Whether `producer` can be inlined into its user: evaluated once per element, and cheap.
bool read_in_place(const LoweredKernel& kernel, int producer) {
  if (kernel.blocks[producer].op->fuse > Fuse::kInjective || kernel.blocks[producer].consumers != 1)
    return false;
  for (const OpBlock& block : kernel.blocks)
    for (int from : block.producers)
      if (from == producer) return block.op->fuse <= Fuse::kInjective;
  return false;
}

/// The pure loops of one definition, innermost first.
std::vector<VarOrRVar> pure_loops(const Halide::Stage& stage) {
  std::vector<VarOrRVar> loops;
  for (const Halide::Internal::Dim& dim : stage.get_schedule().dims()) {
    if (!dim.is_rvar() && dim.var != Halide::Var::outermost().name()) loops.push_back(Halide::Var(dim.var));
  }
  return loops;
}

void schedule_definition(Halide::Stage stage, int lanes, bool parallel) {
  const std::vector<VarOrRVar> loops = pure_loops(stage);
  if (loops.empty()) return;  // a scalar, or a scatter, whose order must be kept
  if (parallel && loops.size() > 1) stage.parallel(loops.back());
  stage.vectorize(loops.front(), lanes, TailStrategy::GuardWithIf);
}

/// `innermost`: the extent of the innermost loop, 0 if unknown. Vectors must not be longer: Halide cannot
/// guard vectors that are read backwards.
void schedule_func(Func func, const DeviceSheet& sheet, bool parallel, int64_t innermost = 0) {
  func.compute_root();
  int lanes = std::max(1, sheet.float_lanes * 32 / std::max(8, func.types().front().bits()));
  if (innermost > 0) lanes = static_cast<int>(std::min<int64_t>(lanes, innermost));
  schedule_definition(func, lanes, parallel);
  for (int i = 0; i < func.num_update_definitions(); ++i)
    schedule_definition(func.update(i), lanes, parallel);
}

int64_t elements(const Type& type) {
  int64_t count = 1;
  if (const auto* tensor = as_type<TensorTypeNode>(type))
    for (int64_t extent : tensor->extents()) count *= extent;
  return count;
}

/// The extent of a tensor's last axis; 0 for scalars and tuples.
int64_t last_extent(const Type& type) {
  const auto* tensor = as_type<TensorTypeNode>(type);
  return tensor && tensor->rank() > 0 ? tensor->extents().back() : 0;
}

void trivial_apply(LoweredKernel& kernel, const ScheduleParams&, const DeviceSheet& sheet) {
  std::set<std::string> done;
  for (size_t i = 0; i < kernel.blocks.size(); ++i) {
    const OpBlock& block = kernel.blocks[i];
    if (read_in_place(kernel, static_cast<int>(i))) {
      bool pure = true;
      for (const Stage& stage : block.stages) pure = pure && !stage.func.has_update_definition();
      if (pure) continue;
    }
    const bool parallel = elements(block.call->checked_type()) >= kParallelElements;
    const bool cheap = block.op->fuse <= Fuse::kInjective;
    for (const Stage& stage : block.stages) {
      bool result = false;
      for (const Func& value : block.results) result = result || value.name() == stage.func.name();
      if (cheap && !result && !stage.func.has_update_definition()) continue;
      if (done.insert(stage.func.name()).second)
        schedule_func(stage.func, sheet, parallel, result ? last_extent(block.call->checked_type()) : 0);
    }
    for (const Func& value : block.results)
      if (done.insert(value.name()).second)
        schedule_func(value, sheet, parallel, last_extent(block.call->checked_type()));
  }
  for (const Tensor& output : kernel.outputs)
    if (done.insert(output.func().name()).second)
      schedule_func(output.func(), sheet, true, output.rank() > 0 ? output.extent(-1) : 0);
}

}  // namespace

const ScheduleTemplate& template_trivial() {
  static const ScheduleTemplate def = {
      .name = "trivial",
      .doc = "every stage its own loops, vectorised inside and parallel outside; elementwise blocks in place",
      .refuses = [](const LoweredKernel&, const DeviceSheet&) { return std::string(); },
      .default_params = [](const LoweredKernel&, const DeviceSheet&) { return ScheduleParams(); },
      .candidates = [](const LoweredKernel&, const DeviceSheet&) { return std::vector<ScheduleParams>{{}}; },
      .apply = trivial_apply,
  };
  return def;
}

}  // namespace baton
