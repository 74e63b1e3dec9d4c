#include "baton/campaign/programs.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "baton/codegen/backend.h"
#include "baton/driver/plan/region_attrs.h"
#include "baton/profile/compare/offload.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"

namespace baton {

namespace {

void build_program(Program& program, const BuildContext& context) {
  try {
    BuildOptions options;
    options.params = weights_of(*program.subject);
    options.context = context;
    options.context.threads = 1;
    options.context.progress = {};
    const ComparedBackend backend = compared_backend(program.backend, context);
    if (program.subject->kind == Subject::Kind::kTransfer) {
      // It needs both devices.
      options.context.targets = {backend.target, Target::parse(context.host().kind)};
      program.built = std::make_shared<const BuildResult>(build(program.subject->module, options));
    } else {
      program.built =
          std::make_shared<const BuildResult>(build_for(backend, program.subject->module, options));
      const bool taken = std::ranges::any_of(program.built->kernels, [&](const BuiltKernel& kernel) {
        return kernel.backend == backend.name() || compiler_of(*kernel.function) == backend.name();
      });
      // The same kernels as on the processor's own backend.
      if (backend.regions_only() && !taken && program.subject->kind == Subject::Kind::kPattern) {
        program.built.reset();
        program.error = backend.name() + " takes none of its operators";
      }
    }
  } catch (const Interrupted&) {
    program.error = "interrupted";
  } catch (const std::exception& error) {
    program.error = error.what();
  }
}

}  // namespace

void add_simulated_devices(BuildContext& context, const std::vector<std::string>& backends) {
  constexpr std::string_view kPrefix = "sim_";
  std::vector<TargetRef> targets = context.targets;
  for (const std::string& name : backends)
    if (name.starts_with(kPrefix))
      targets.push_back(Target::parse("sim -sheet=" + name.substr(kPrefix.size())));
  if (targets.size() > context.targets.size()) set_targets(context, std::move(targets));
}

void build_programs(std::vector<Program>& programs, const BuildContext& context) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < programs.size(); i = next++) build_program(programs[i], context);
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < default_threads(); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  stop_if_asked(context.interrupt);
}

}  // namespace baton
