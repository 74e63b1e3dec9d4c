#include <algorithm>
#include <ctime>
#include <sstream>

#include "baton/cli/common.h"
#include "baton/cli/debug_flags.h"
#include "baton/cli/laboratory.h"
#include "baton/cli/outputs.h"
#include "baton/cli/profile_program.h"
#include "baton/cli/profile_sample.h"
#include "baton/driver/vm/build_program.h"
#include "baton/driver/vm/runnable_program.h"
#include "baton/profile/report/comparison.h"
#include "baton/profile/report/run_profile.h"
#include "baton/profile/views/source_times.h"
#include "baton/runtime/model.h"
#include "baton/runtime/thread_pool.h"
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
    flags.at("shape").doc += "; a range, n=1:512:x2 or n=16:64:16, gives curves: one build, profiled at each";
    flags_.add_target(flags);
    flags_.add_choices(flags);
    flags_.add_no_verify(flags);
    command_.add(flags);
    program_.add(flags);
    flags.option(
        "compare", &compare_,
        "llvm,dnnl,opencl: build for the first of these backends, and measure each kernel beside the "
        "same operators on the others, copies and changes of layout included; kernels are not split, "
        "and not unfused");
    add_store_flag(flags, &store_);
    flags.option("family", &family_,
                 "of --store: the model's family (default: of a workload what its name begins with)");
    sample_.add(flags);
    debug_.add(flags);
    outputs_.add(flags);
  }

  int run(Io& io) override {
    if (std::count(models_.begin(), models_.end(), "-") > 1)
      throw UsageError("standard input can be read once: `-` is given twice");
    if (!compare_.empty()) outputs_.with_comparison();
    if (has_ranges(flags_.shapes)) {
      if (models_.size() > 1) throw UsageError("a --shape with a range takes one model");
      outputs_.as_curve();
    }
    outputs_.check(models_.size() > 1 ? model_labels(models_) : std::vector<std::string>());
    apply(debug_, flags_);
    flags_.model = models_.front();
    if (sample_.on) {
      refuse_options(io,
                     {"compare", "store", "family", "inside-ms", "max-seconds", "repeat", "no-inside",
                      "no-unfused", "no-peaks", "wait", "by", "all", "top", "sort", "trace-runs"},
                     "--sample measures nothing but shares of plain runs");
      if (models_.size() > 1) throw UsageError("--sample takes one model");
      if (outputs_.any_file())
        throw UsageError("--sample prints a table, or JSON with --json; it writes no files of a profile");
      return profile_by_sampling(io, flags_, program_, sample_, command_.threads, outputs_.json());
    }
    refuse_options(io, {"hz"}, "it is for --sample");
    outputs_.refuse_ignored(io);
    if (store_.empty()) refuse_options(io, {"family"}, "it is for --store");
    if (!compare_.empty()) prepare_comparison(io);
    // Opened early: measuring takes long.
    if (!store_.empty()) kept_in_ = laboratory().store(store_, family_);
    std::vector<ProfileReport> reports;
    try {
      for (const std::string& model : models_) {
        if (status_) break;  // interrupted: the rest is not begun
        flags_.model = model;
        if (model.ends_with(".baton"))
          of_artifact(io, reports);
        else
          of_model(io, reports);
      }
    } catch (const std::exception&) {
      if (!reports.empty()) outputs_.write(reports, io);  // measuring took long
      throw;
    }
    if (kept_in_) io.err << kept_in_->added() << " rows are new in " << kept_in_->path() << '\n';
    outputs_.write(reports, io);
    require_equal_results(reports);
    return status_;
  }

 private:
  /// Fails before the model is built.
  void prepare_comparison(const Io& io) {
    refuse_options(io, {"inside-ms", "no-inside", "no-unfused"}, "--compare splits and unfuses no kernels");
    if (!flags_.targets.empty())
      throw UsageError(
          "--compare names the backends, the first is what the model is built for: leave --target "
          "out");
    if (!flags_.mapping.empty())
      throw UsageError(
          "--compare measures each backend, --mapping chooses among them: leave one of them out");
    for (const std::string& model : models_)
      if (model.ends_with(".baton"))
        throw UsageError(model +
                         " is an artifact: it holds kernels and no Relay; --compare takes the model that "
                         "it was built from");
    std::istringstream list(compare_);
    std::vector<std::string> names;
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    compared_ = laboratory().compare(names, flags_.context());
  }

  /// After everything is written.
  static void require_equal_results(const std::vector<ProfileReport>& reports) {
    std::string all;
    for (const ProfileReport& report : reports)
      if (report.comparison)
        for (const std::string& wrong : report.comparison->wrong()) all += (all.empty() ? "" : "\n") + wrong;
    if (!all.empty()) throw Error(all);
  }

  ProfileReport named_for(const BuiltModel& built) const {
    ProfileReport named;
    static_cast<ReportHead&>(named) = report_head(built.model, flags_.opt_level);
    named.target = report_source(built.build).target;
    named.precision = built.build.precision;
    return named;
  }

  /// One report, or one for each point of the shapes.
  void of_model(Io& io, std::vector<ProfileReport>& reports) {
    if (program_.leaves_shapes_open(flags_)) {
      refuse_for_program(io);
      return of_program(ProfiledProgram::open(flags_, program_, io), io, reports);
    }
    const bool programs = !compared_ && program_.executor == "auto";
    // Options that have no effect are refused before anything is compiled.
    const auto build_it = [&](const IRModule& module, const BuildOptions& options) {
      if (compared_)
        return for_plans(module, "backends are compared", [&] { return compared_->build(module, options); });
      const bool plan = !programs || is_plan(module);
      if (!plan) refuse_for_program(io);
      if (plan) refuse_options(io, {"inputs"}, "times of straight-line models do not depend on values");
      return plan ? build(module, options) : build_program(module, options);
    };
    BuiltModel built = build_model(flags_, io, nullptr, build_it, programs || compared_);
    if (!built.build.program) return reports.push_back(of_plan(built, io));
    ModelFlags fixed = flags_;
    fixed.shapes.clear();  // the module has them
    of_program({std::move(built), fixed, program_}, io, reports);
  }

  void refuse_for_program(const Io& io) const {
    refuse_options(io, {"compare", "inside-ms", "no-inside", "no-unfused", "mapping", "debug-lines"},
                   flags_.model + " is profiled as a program of the virtual machine");
  }

  void of_program(const ProfiledProgram& program, Io& io, std::vector<ProfileReport>& reports) {
    const BuiltModel* built = program.built();
    for (const ShapePoint& point : program.points()) {
      if (status_) return;
      const ProgramCall call = program.call_at(point, command_.threads, io);
      ProfileReport named = built ? named_for(*built) : named_for_file(program.source().facts);
      if (!point.name.empty()) named.point = {point.name, point.value};
      reports.push_back(measured(named, io, [&](const MeasuringBegins& begins) {
        begins(call.threads > 0 ? call.threads : default_threads());
        ProfileReport report = profile(program.source(), call, command_.options);
        if (built)
          report.notes.insert(report.notes.begin(), built->model.notes.begin(), built->model.notes.end());
        if (built)
          keep(report, {&built->build, built->model.module, &program.source()});
        else
          keep(report, {nullptr, {}, &program.source()});
        return report;
      }));
    }
  }

  ProfileReport of_plan(const BuiltModel& built, Io& io) {
    return measured(named_for(built), io, [&](const MeasuringBegins& begins) {
      ProfileReport report = compared_ ? compared_->profile(built, command_, begins)
                                       : run_profile(built.build, command_, {}, begins);
      report.notes.insert(report.notes.begin(), built.model.notes.begin(), built.model.notes.end());
      keep(report, {&built.build, built.model.module});
      return report;
    });
  }

  /// Into the store, if there is one.
  void keep(const ProfileReport& report, const ProfiledModel& profiled) {
    if (!kept_in_) return;
    ProfileReport named = report;
    named.model = model_labels({flags_.model}).front();
    named.opt_level = flags_.opt_level;
    kept_in_->add(named, profiled, command_.options.context, flags_.model, begun_s_);
  }

  ProfileReport named_for_file(const ReportSource& source) const {
    ProfileReport named;
    named.model = flags_.model;
    named.opt_level = -1;  // not stored in the file
    named.target = source.target;
    named.precision = source.precision;
    return named;
  }

  void of_artifact(Io& io, std::vector<ProfileReport>& reports) {
    refuse_options(io, {"executor"}, flags_.model + " is an artifact, whose executor is known");
    if (is_program_file(flags_.model)) {
      refuse_for_program(io);
      return of_program(ProfiledProgram::open(flags_, program_, io), io, reports);
    }
    refuse_options(io, {"inputs"}, "times of straight-line models do not depend on values");
    const std::unique_ptr<Model> model = flags_.open_artifact(io);
    // Checked before measuring.
    const ProfileReport named = named_for_file(report_source(model->artifact(), flags_.model));
    command_.options.another = [&]() -> std::shared_ptr<Executor> {
      std::shared_ptr<Executor> another = require(model->another_executor());
      another->set_threads(command_.threads);
      set_inputs(*another, {});
      return another;
    };
    reports.push_back(measured(named, io, [&](const MeasuringBegins& begins) {
      model->executor().set_threads(command_.threads);
      set_model_inputs(model->executor(), {});
      begins(model->executor().threads());
      ProfileReport report = profile(model->artifact(), flags_.model, model->executor(), command_.options);
      keep(report, {});
      return report;
    }));
  }

  /// `named`: what is known of the report beforehand, its heading, which is printed at once. `work` calls
  /// what it is given with the number of threads, before it measures.
  ProfileReport measured(ProfileReport named, Io& io,
                         const std::function<ProfileReport(const MeasuringBegins&)>& work) {
    const InterruptScope interrupt;
    Progress progress(io);
    ProfileOptions& options = command_.options;
    options.context = flags_.context();
    options.context.interrupt = interrupt.flag();
    options.progress = [&](const ProfileProgress& now) {
      progress.show(now.phase, now.done, now.total, now.seconds_left);
    };
    ProfileReport report = work([&](int threads) {
      named.threads = threads;
      named.machine = options.context.host().name;
      named.version = version();
      outputs_.heading(named, io);
      begun_s_ = std::time(nullptr);
    });
    status_ = InterruptScope::exit_status();
    progress.clear();
    if (status_) io.err << "baton profile: interrupted: what was measured until then is reported\n";
    static_cast<ReportHead&>(report) = named;
    report.point = named.point;
    add_source_files(report);
    outputs_.table(report, io);
    return report;
  }

  ModelFlags flags_;
  DebugFlags debug_;
  SampleFlags sample_;
  ProgramFlags program_;
  ProfileCommand command_;
  std::vector<std::string> models_;
  std::string compare_, store_, family_;
  int64_t begun_s_ = 0;  ///< the model's profile
  std::unique_ptr<ComparedProfile> compared_;
  std::unique_ptr<ProfileStore> kept_in_;
  int status_ = 0;
  ProfileOutputs outputs_;
};

}  // namespace

std::unique_ptr<Verb> profile_verb() { return std::make_unique<ProfileVerb>(); }

}  // namespace baton::cli
