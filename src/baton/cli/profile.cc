#include "baton/profile/report/profile.h"

#include <algorithm>

#include "baton/cli/common.h"
#include "baton/cli/debug_flags.h"
#include "baton/cli/outputs.h"
#include "baton/cli/profile_sample.h"
#include "baton/runtime/model.h"
#include "baton/support/error.h"
#include "baton/support/version.h"

namespace baton::cli {

namespace {

class ProfileVerb final : public Verb {
 public:
  ProfileVerb()
      : Verb("profile", "Time every kernel of a model and split it over the operators it came from.") {}

  void flags(Flags& flags) override {
    flags_.add(flags, &models_);
    flags.at("MODEL").doc =
        "workload name (baton models lists them), .relay file, - for Relay text on standard input, or a "
        ".baton artifact (times of its kernels only); several are profiled one after the other";
    flags_.add_target(flags);
    flags_.add_no_verify(flags);
    add_threads(flags, &threads_);
    flags.option("repeat", &options_.measure.min_runs, "runs of each kind, at least")
        .show_default()
        .range(1, 1000000);
    flags.option("inside-ms", &options_.inside_ms, "time to measure the inside of one kernel")
        .show_default()
        .range(1.0, 1e6);
    flags
        .option("max-seconds", &options_.max_seconds,
                "time for measuring, beyond compiling; spent where most of the model's time is")
        .show_default()
        .range(0.1, 1e6);
    flags.flag("no-inside", &no_inside_, "no split of kernels over their operators");
    flags.flag("no-unfused", &no_unfused_, "no second build with every operator in a kernel of its own");
    flags.flag("no-peaks", &no_peaks_, "do not measure what this machine can do at most (kept for a day)");
    flags
        .flag_or_value(
            "wait", &wait_, "60",
            "wait until other programs leave the machine alone, at most a minute; --wait=SECONDS: at "
            "most so long")
        .range(1.0, 1e6);
    sample_.add(flags);
    debug_.add(flags);
    outputs_.add(flags);
  }

  int run(Io& io) override {
    if (std::count(models_.begin(), models_.end(), "-") > 1)
      throw UsageError("standard input can be read once: `-` is given twice");
    outputs_.check(models_.size() > 1 ? model_labels(models_) : std::vector<std::string>());
    apply(debug_, flags_);
    flags_.model = models_.front();
    if (sample_.on) {
      if (models_.size() > 1) throw UsageError("--sample takes one model");
      if (outputs_.any_file())
        throw UsageError("--sample prints a table, or JSON with --json; it writes no files of a profile");
      return profile_by_sampling(io, flags_, sample_, threads_, outputs_.json());
    }
    options_.inside = !no_inside_;
    options_.unfused = !no_unfused_;
    options_.peaks = !no_peaks_;
    options_.wait_s = wait_;
    std::vector<ProfileReport> reports;
    try {
      for (const std::string& model : models_) {
        if (status_) break;  // interrupted: the rest is not begun
        flags_.model = model;
        reports.push_back(model.ends_with(".baton") ? of_artifact(io) : of_model(io));
      }
    } catch (const std::exception&) {
      if (!reports.empty()) outputs_.write(reports, io);  // measuring took long
      throw;
    }
    outputs_.write(reports, io);
    return status_;
  }

 private:
  ProfileReport of_model(Io& io) {
    const BuiltModel built = build_model(flags_, io);
    const std::unique_ptr<Executor> executor = make_executor(built.build);
    ProfileReport named;
    named.model = built.model.name;
    named.source = flags_.model == "-"
                       ? "standard input"
                       : built.model.source->name() + " (baton print " + built.model.name + ")";
    named.sources = {{"", built.model.source->text()}};
    named.opt_level = flags_.opt_level;
    named.target = report_source(built.build).target;
    return measured(named, *executor, io, [&] { return profile(built.build, *executor, options_); });
  }

  ProfileReport of_artifact(Io& io) {
    const std::unique_ptr<Model> model = flags_.open_artifact();
    // Checked before measuring.
    ProfileReport named;
    named.model = flags_.model;
    named.opt_level = -1;  // not stored in the file
    named.target = report_source(model->artifact(), flags_.model).target;
    options_.another = [&]() -> std::shared_ptr<Executor> {
      std::shared_ptr<Executor> another = require(model->another_executor());
      another->set_threads(threads_);
      set_inputs(*another, {});
      return another;
    };
    return measured(named, model->executor(), io,
                    [&] { return profile(model->artifact(), flags_.model, model->executor(), options_); });
  }

  /// `named`: what is known of the report beforehand, its heading, which is printed at once.
  template <class Work>
  ProfileReport measured(ProfileReport named, Executor& executor, Io& io, Work work) {
    const InterruptScope interrupt;
    Progress progress(io);
    options_.context = flags_.context();
    options_.context.interrupt = interrupt.flag();
    options_.progress = [&](const ProfileProgress& now) {
      progress.show(now.phase, now.done, now.total, now.seconds_left);
    };
    executor.set_threads(threads_);
    set_inputs(executor, {});
    named.threads = executor.threads();
    named.machine = options_.context.host().name;
    named.version = version();
    outputs_.heading(named, io);
    ProfileReport report = work();
    status_ = InterruptScope::exit_status();
    progress.clear();
    if (status_) io.err << "baton profile: interrupted: what was measured until then is reported\n";
    report.model = named.model;
    report.source = named.source;
    report.sources = named.sources;
    report.opt_level = named.opt_level;
    outputs_.table(report, io);
    return report;
  }

  ModelFlags flags_;
  DebugFlags debug_;
  SampleFlags sample_;
  ProfileOptions options_;
  std::vector<std::string> models_;
  int threads_ = 0, status_ = 0;
  double wait_ = 0;
  bool no_inside_ = false, no_unfused_ = false, no_peaks_ = false;
  ProfileOutputs outputs_;
};

}  // namespace

std::unique_ptr<Verb> profile_verb() { return std::make_unique<ProfileVerb>(); }

}  // namespace baton::cli
