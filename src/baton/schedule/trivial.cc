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

/// `along`: the loop that may become vectors; empty: the innermost.
void schedule_definition(Halide::Stage stage, int lanes, bool parallel, TailStrategy tail,
                         const std::string& along = {}) {
  const std::vector<Halide::VarOrRVar> loops = pure_loops(stage);
  if (loops.empty()) return;  // a scalar, or a scatter, whose order must be kept
  if (parallel && loops.size() > 1) stage.parallel(loops.back());
  if (along.empty() || loops.front().name() == along) stage.vectorize(loops.front(), lanes, tail);
}

void schedule_definitions(Func func, int lanes, bool parallel, TailStrategy tail,
                          const std::string& along = {}) {
  schedule_definition(func, lanes, parallel, tail, along);
  for (int i = 0; i < func.num_update_definitions(); ++i)
    schedule_definition(func.update(i), lanes, parallel, tail, along);
}

void schedule_func(const StoredFunc& stored, const DeviceSheet& sheet) {
  Func func = stored.func;
  int lanes = std::max(1, sheet.float_lanes * 32 / std::max(8, func.types().front().bits()));
  if (stored.within) {
    // In a loop of its reader: a row, whose other axes have one element, in storage that may be longer.
    func.compute_at(*stored.within);
    schedule_definitions(func, lanes, false, TailStrategy::RoundUp,
                         pure_loops(Halide::Stage(func)).front().name());
    return;
  }
  func.compute_root();
  // Vectors must not be longer than the innermost loop: Halide cannot guard vectors that are read backwards.
  if (stored.innermost > 0) lanes = static_cast<int>(std::min<int64_t>(lanes, stored.innermost));
  const bool parallel = stored.elements >= kParallelElements || stored.copies_output;
  schedule_definitions(func, lanes, parallel, TailStrategy::GuardWithIf);
}

void trivial_apply(LoweredKernel& kernel, const ScheduleParams&, const DeviceSheet& sheet) {
  for (const StoredFunc& stored : stored_funcs(kernel)) schedule_func(stored, sheet);
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
