// The fallback schedule of GPUs, valid for every kernel and tuned for none: what the trivial schedule stores
// gets a launch of its own, with one thread per element. Intermediate results are in the device's memory, and
// launches in one queue follow each other, so no thread reads what another one has yet to write.
#include "baton/schedule/gpu/naive.h"

namespace baton {
namespace {

using Halide::TailStrategy;
using Halide::Var;

void launch_definition(Halide::Stage stage) {
  const std::vector<Halide::VarOrRVar> loops = pure_loops(stage);
  if (loops.empty()) {
    stage.gpu_single_thread();
    return;
  }
  Halide::VarOrRVar element = loops.front();
  for (size_t i = 1; i < loops.size(); ++i) {
    const Var joined("element" + std::to_string(i));
    stage.fuse(element, loops[i], joined);
    element = joined;
  }
  // Neighbours along the innermost axis are threads of one block: they read and write next to each other.
  stage.gpu_tile(element, Var("block"), Var("thread"), kThreadsPerBlock, TailStrategy::GuardWithIf);
}

void gpu_naive_apply(LoweredKernel& kernel, const ScheduleParams&, const DeviceSheet&) {
  for (const StoredFunc& stored : stored_funcs(kernel)) one_thread_per_element(stored.func);
}

}  // namespace

void one_thread_per_element(Halide::Func func) {
  func.compute_root();
  launch_definition(func);
  for (int i = 0; i < func.num_update_definitions(); ++i) launch_definition(func.update(i));
}

const ScheduleTemplate& template_gpu_naive() {
  static const ScheduleTemplate def = {
      .name = "gpu_naive",
      .doc = "every stage its own launch, one thread per element; elementwise blocks in place",
      .refuses = [](const LoweredKernel&, const DeviceSheet&) { return std::string(); },
      .default_params = [](const LoweredKernel&, const DeviceSheet&) { return ScheduleParams(); },
      .candidates = [](const LoweredKernel&, const DeviceSheet&) { return std::vector<ScheduleParams>{{}}; },
      .apply = gpu_naive_apply,
  };
  return def;
}

}  // namespace baton
