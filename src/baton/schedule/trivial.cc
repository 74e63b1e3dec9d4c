// The fallback schedule, valid for every kernel and tuned for none: every stage gets its own loop nest,
// except elementwise blocks with one user, which are inlined. It is the reference for testing the other
// templates, and the schedule used by constant folding.
#include <algorithm>

#include "baton/schedule/common.h"
#include "baton/schedule/template.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::TailStrategy;

/// Whether data decide where elements go.
bool is_scatter(const Func& func, int update) {
  class Calls final : public Halide::Internal::IRVisitor {
   public:
    bool found = false;

   private:
    using IRVisitor::visit;
    void visit(const Halide::Internal::Call* node) override {
      found |= node->call_type == Halide::Internal::Call::Halide;
      IRVisitor::visit(node);
    }
  } calls;
  for (const Halide::Expr& arg : func.update_args(update)) arg.accept(&calls);
  return calls.found;
}

void schedule_definition(Halide::Stage stage, int lanes, bool parallel, bool scatters = false) {
  const std::vector<Halide::VarOrRVar> loops = pure_loops(stage);
  if (loops.empty()) return;  // a scalar, or a scatter, whose order must be kept
  if (scatters) {             // side by side, each lane would have its own place in memory
    if (parallel) stage.parallel(loops.back());
    return;
  }
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
    schedule_definition(func.update(i), lanes, parallel, is_scatter(func, i));
}

void trivial_apply(LoweredKernel& kernel, const ScheduleParams&, const DeviceSheet& sheet) {
  for (const StoredFunc& stored : stored_funcs(kernel))
    schedule_func(stored.func, sheet, stored.elements >= kParallelElements || stored.copies_output,
                  stored.innermost);
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
      .loops = vector_loops,
  };
  return def;
}

}  // namespace baton
