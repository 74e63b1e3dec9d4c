#include "baton/cli/common.h"
#include "baton/cli/profile_sample.h"
#include "baton/profile/report_json.h"

namespace baton::cli {

namespace {

class ProfileVerb final : public Verb {
 public:
  ProfileVerb() : Verb("profile", "Time every kernel of a model and split it over the operators it came from.") {}

  void flags(CLI::App& app) override {
    flags_.add(app);
    app.add_option("--threads", threads_, "threads of the runs")->capture_default_str()->check(CLI::Range(1, 256));
    app.add_option("--repeat", repeat_, "runs of each kind, at least")->capture_default_str()->check(CLI::Range(1, 1000000));
    app.add_option("--inside-ms", inside_ms_, "time to measure the inside of one kernel")->capture_default_str()->check(CLI::Range(1.0, 1e6));
    app.add_flag("--no-inside", no_inside_, "kernels only: no split over their operators");
    sample_.add(app);
    debug_.add(app);
    app.add_flag("--json", json_, "one JSON object on standard output, with raw samples");
  }

  int run(Io& io) override {
    const DebugScope debug(debug_);
    if (sample_.on) return profile_by_sampling(io, flags_, sample_, threads_, json_);
    const BuiltModel built = build_model(flags_, io);
    const InterruptScope interrupt;
    const std::unique_ptr<Executor> executor = make_executor(built.build);
    executor->set_threads(threads_);
    set_inputs(*executor, {});
    MeasureOptions options;
    options.min_runs = repeat_;
    options.interrupt = interrupt.flag();
    Progress progress(io);
    progress.show("measuring the model", 0, 1);
    const FusedTimes fused = measure_fused(*executor, options);
    std::map<std::string, InsideTimes> inside;
    if (!no_inside_) {
      InsideOptions inside_options;
      inside_options.ms_per_kernel = inside_ms_;
      inside_options.compile.interrupt = interrupt.flag();
      inside_options.compile.progress = [&](int done, int total) { progress.show("building variants of kernels", done, total); };
      inside_options.progress = [&](int done, int total) { progress.show("measuring inside kernels", done, total); };
      inside = measure_inside(built.build, *executor, inside_options);
    }
    progress.clear();
    ProfileReport report = make_report(built.build, executor->plan(), fused, inside);
    report.model = built.model.name;
    report.source = built.model.source->name() + " (baton print " + built.model.name + ")";
    report.threads = threads_;
    report.opt_level = flags_.opt_level;
    if (json_) io.out << to_json(report).dump() << '\n';
    else write_table(io.out, report);
    return 0;
  }

 private:
  ModelFlags flags_;
  SampleFlags sample_;
  DebugFlags debug_;
  int threads_ = 1, repeat_ = 30;
  double inside_ms_ = 300;
  bool no_inside_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> profile_verb() { return std::make_unique<ProfileVerb>(); }

}  // namespace baton::cli
