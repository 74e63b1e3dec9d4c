#include "baton/profile/report/run_profile.h"

#include "baton/driver/build.h"
#include "baton/driver/vm/runnable_program.h"
#include "baton/profile/measure/measuring_flags.h"
#include "baton/runtime/thread_pool.h"

namespace baton {

void ProfileCommand::add_measuring(Flags& flags) {
  add_threads(flags, &threads);
  flags.option("repeat", &options.measure.min_runs, "runs of each kind, at least")
      .show_default()
      .range(1, 1000000);
  flags
      .option("max-seconds", &options.max_seconds,
              "time for measuring, beyond compiling; spent where most of the model's time is")
      .show_default()
      .range(0.001, 1e6);
}

void ProfileCommand::add(Flags& flags) {
  add_measuring(flags);
  flags.option("inside-ms", &options.inside_ms, "time to measure the inside of one kernel")
      .show_default()
      .range(1.0, 1e6);
  flags.negated("inside", &options.inside, "no split of kernels over their operators");
  flags.negated("unfused", &options.unfused, "no second build with every operator in a kernel of its own");
  flags.negated("peaks", &options.peaks, "do not measure what this machine can do at most (kept for a day)");
  add_wait(flags, &options.wait_s);
}

ProfileReport run_profile(const BuildResult& built, const ProfileCommand& command, const NamedArrays& inputs,
                          const MeasuringBegins& begins) {
  if (built.program) {
    const ProgramCall call{"main", values_for(*built.program, "main", inputs),
                           command.threads > 0 ? command.threads : default_threads()};
    begins(call.threads);
    return profile(program_source(built), call, command.options);
  }
  const std::unique_ptr<Executor> executor = make_executor(built);
  executor->set_threads(command.threads);
  set_model_inputs(*executor, inputs);
  begins(executor->threads());
  return profile(built, *executor, command.options);
}

}  // namespace baton
