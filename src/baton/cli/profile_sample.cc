#include "baton/cli/profile_sample.h"

#include "baton/driver/vm/build_program.h"
#include "baton/profile/report/sample_report.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton::cli {

namespace {

constexpr double kSeconds = 3;

}  // namespace

void SampleFlags::add(Flags& flags) {
  flags.flag("sample", &on,
             "shares of plain runs by kernel and stage, by sampling: no kernel is changed, none has a clock");
  flags.option("hz", &hz, "samples per second and thread, of --sample").show_default().range(1, 20000);
}

int profile_by_sampling(Io& io, const ModelFlags& model, const SampleFlags& flags, int threads, bool json) {
  if (model.model.ends_with(".baton"))
    throw Error(
        "an artifact does not keep how its kernels were made: profile --sample takes the model it was built "
        "from");
  const auto build_it = [](const IRModule& module, const BuildOptions& options) {
    return for_plans(module, "runs are sampled", [&] { return build(module, options); });
  };
  const BuiltModel built = build_model(model, io, nullptr, build_it, /*programs=*/true);
  const InterruptScope interrupt;
  const std::unique_ptr<Executor> executor = make_executor(built.build);
  executor->set_threads(threads);
  set_inputs(*executor, {});
  Progress progress(io);
  SampleOptions options(model.context());
  options.hz = flags.hz;
  options.seconds = kSeconds;
  options.compile.interrupt = interrupt.flag();
  options.compile.progress = [&](const std::string&, int done, int total) {
    progress.show("mapping the code of kernels", done, total);
  };
  const ModelSamples samples = require(sample_model(built.build, *executor, options));
  progress.clear();
  if (json)
    io.out << to_json(built.build, samples).dump() << '\n';
  else
    write_samples(io.out, built.build, samples);
  return 0;
}

}  // namespace baton::cli
