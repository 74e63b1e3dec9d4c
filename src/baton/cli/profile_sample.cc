#include "baton/cli/profile_sample.h"

#include <functional>

#include "baton/driver/shape_points.h"
#include "baton/driver/vm/build_program.h"
#include "baton/profile/report/sample_report.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/error.h"
#include "baton/support/json.h"
#include "baton/support/require.h"

namespace baton::cli {

namespace {

constexpr double kSeconds = 3;

}  // namespace

void SampleFlags::add(Flags& flags) {
  flags.flag("sample", &on,
             "shares of plain runs by kernel and stage, by sampling: no kernel is changed, none has a clock");
  flags.option("hz", &hz, "samples per second and thread, of --sample").show_default().range(1, 20000);
}

namespace {

/// Samples `run`, which runs the build once on `threads` threads, and writes the shares.
int write_shares(Io& io, const BuildResult& built, const std::function<void()>& run, int threads,
                 const BuildContext& context, int hz, bool json) {
  Progress progress(io);
  SampleOptions options(context);
  options.hz = hz;
  options.seconds = kSeconds;
  options.compile.progress = [&](const std::string&, int done, int total) {
    progress.show("mapping the code of kernels", done, total);
  };
  const ModelSamples samples = require(sample_model(built, run, threads, options));
  progress.clear();
  if (json)
    io.out << to_json(built, samples).dump() << '\n';
  else
    write_samples(io.out, built, samples);
  return 0;
}

}  // namespace

int profile_by_sampling(Io& io, const ModelFlags& model, const ProgramFlags& program,
                        const SampleFlags& flags, int threads, bool json) {
  if (has_ranges(model.shapes)) throw UsageError("--sample takes one shape, and --shape has a range");
  if (model.model.ends_with(".baton"))
    throw Error(
        "an artifact does not keep how its kernels were made: profile --sample takes the model it was built "
        "from");
  const bool open = program.leaves_shapes_open(model);
  ModelFlags built_at = model, run_at = model;
  (open ? built_at : run_at).shapes.clear();  // the module or the arguments have them
  const auto how = open ? build_program : program.executor == "graph" ? build : build_plan_or_program;
  BuiltModel built = build_model(built_at, io, nullptr, how, /*programs=*/true);
  const InterruptScope interrupt;
  BuildContext context = model.context();
  context.interrupt = interrupt.flag();
  if (!built.build.program) {
    refuse_options(io, {"inputs"}, "times of straight-line models do not depend on values");
    const std::unique_ptr<Executor> executor = make_executor(built.build);
    executor->set_threads(threads);
    set_inputs(*executor, {});
    const auto run = [&] { require(executor->run()); };
    return write_shares(io, built.build, run, executor->threads(), context, flags.hz, json);
  }
  const ProfiledProgram profiled(std::move(built), run_at, program);
  const ProgramCall call = profiled.call_at(profiled.points().front(), threads, io);
  const std::shared_ptr<RunnableProgram> runnable = profiled.source().make();
  const ThreadScope scope(threads > 0 ? threads : default_threads());
  const auto run = [&] { (void)runnable->run(call.function, call.args, context); };
  return write_shares(io, profiled.built()->build, run, current_threads(), context, flags.hz, json);
}

}  // namespace baton::cli
