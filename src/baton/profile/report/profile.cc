#include "baton/profile/report/profile.h"

#include <algorithm>

#include "baton/clock/machine_clock.h"
#include "baton/codegen/backend.h"
#include "baton/driver/vm/runnable_program.h"
#include "baton/profile/inside/inside.h"
#include "baton/profile/inside/inside_parts.h"
#include "baton/profile/report/another_executor.h"
#include "baton/profile/report/memory.h"
#include "baton/profile/report/unfused.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"
#include "baton/support/version.h"
#include "baton/target/machine_name.h"

namespace baton {

namespace {

// Parts of the budget: for whole runs when kernels are split too, and when they are not.
constexpr double kForRuns = 0.4, kForRunsOnly = 0.95;
// Rounds of the model before and between those inside kernels.
constexpr int kRoundsAtOnce = 2;
// Runs of which one becomes the timeline, and the time for all of them.
constexpr int kTimelines = 9;
constexpr double kTimelinesNs = 1e9;
constexpr double kLongRun = 0.5;  // seconds of a run of a program

bool asked(const BuildContext& context) { return context.interrupt && *context.interrupt; }

class Profiler {
 public:
  /// `threads`: of the runs.
  Profiler(const ProfileOptions& options, int threads)
      : options_(options), budget_(options.max_seconds), threads_(threads) {
    options_.measure.interrupt = options.context.interrupt;
    options_.measure.waited = options.wait_s > 0;
  }

  /// Times of the models; the first is what is profiled. `split`: how many of its kernels will be.
  /// `meanwhile` is called between two rounds.
  std::vector<FusedTimes> measured(const std::vector<MeasuredModel>& models, size_t split,
                                   const std::function<void(ModelMeasurement&)>& meanwhile = {}) {
    std::string waited;
    if (options_.wait_s > 0) waited = wait();
    options_.measure.max_seconds = budget_.left() * (split ? kForRuns : kForRunsOnly);
    begin("measuring the model", options_.inside_ms / 1e3 * static_cast<double>(split));
    show(0, options_.measure.rounds);
    const std::string phase = phase_;
    options_.measure.progress = [this, phase](double done) {
      if (phase_ == phase) show(static_cast<int>(done * options_.measure.rounds), options_.measure.rounds);
    };
    ModelMeasurement measurement(models, options_.measure);
    if (meanwhile) {
      measurement.rounds(kRoundsAtOnce);
      meanwhile(measurement);
      begin(phase, 0);
    }
    std::vector<FusedTimes> times = measurement.result();
    if (!waited.empty()) times[0].notes.insert(times[0].notes.begin(), waited);
    return times;
  }

  void peaks(ProfileReport& report) {
    if (!options_.peaks || asked(options_.context)) return;
    if (!report.kernels.empty() && std::ranges::none_of(report.kernels, on_processor)) {
      report.notes.push_back("no roofs: the peak rates are those of the processor, which computes no kernel");
      return;
    }
    begin("measuring the machine", 0);
    show(0, 1);
    KernelCache& cache = options_.context.cache ? *options_.context.cache : KernelCache::shared();
    std::string why;
    if (const auto sheet = measured_sheet(options_.context.host(), threads_, cache, why))
      add_peaks(report, *sheet);
    else
      report.notes.push_back("no roofs: this machine's peak rates could not be measured, " + why);
  }

  std::optional<UnfusedModel> unfused(const BuildResult& built, Executor& executor) {
    if (!options_.unfused) return std::nullopt;
    const Budget::Pause compiling(&budget_);
    begin("building every operator by itself", 0);
    BuildOptions how;
    how.context = options_.context;
    set_targets(how.context, built.targets);  // in Python those of the build are not current any more
    how.context.progress = [&](const std::string& phase, int done, int total) {
      if (phase == "kernels") show(done, total);
    };
    return build_unfused(built, executor, how);
  }

  /// By func_name; between its rounds `model` is measured on.
  std::map<std::string, InsideTimes> inside(const BuildResult& built, Executor& executor,
                                            ModelMeasurement& model, const AnotherExecutor& another) {
    if (!options_.inside || asked(options_.context)) return {};
    InsideOptions inside(options_.context);
    inside.ms_per_kernel = options_.inside_ms;
    inside.threads = threads_;
    inside.another = another;
    inside.system = options_.measure.system;
    inside.budget = &budget_;
    inside.after_round = [&] {
      model.rounds(kRoundsAtOnce);
      budget_.reserve(model.seconds_for_rest());
    };
    budget_.reserve(model.seconds_for_rest());
    const FusedTimes fused = std::move(model.so_far().front());
    for (size_t i = 0; i < fused.nodes.size(); ++i)
      inside.weights[executor.plan().nodes[fused.nodes[i]].func_name] += median(fused.node_us[i]);
    inside.compile.progress = [&](const std::string&, int done, int total) {
      if (phase_ != "building variants of kernels") begin("building variants of kernels", 0);
      show(done, total);
    };
    inside.progress = [&](int done, int total) {
      if (phase_ != "measuring inside kernels") begin("measuring inside kernels", 0);
      show(done, total);
    };
    std::map<std::string, InsideTimes> times;
    try {
      times = measure_parts(built, executor, inside);
      times.merge(measure_inside(built, executor, inside));
    } catch (const Interrupted&) {
    }
    budget_.reserve(0);
    return times;
  }

  /// A typical undisturbed run on several threads.
  std::optional<RunTimeline> timeline(Executor& executor) {
    if (threads_ < 2 || asked(options_.context)) return std::nullopt;
    std::vector<RunTimeline> runs;
    const int64_t begin = monotonic_ns();
    for (int i = 0; i < kTimelines && static_cast<double>(monotonic_ns() - begin) < kTimelinesNs; ++i) {
      Result<RunTimeline> run = executor.run_timeline();
      if (!run.ok()) throw Error(run.status().message);
      if (!run->held) runs.push_back(std::move(*run));
    }
    if (runs.empty()) return std::nullopt;
    const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
    std::nth_element(runs.begin(), middle, runs.end(),
                     [](const RunTimeline& a, const RunTimeline& b) { return a.total_ns < b.total_ns; });
    return std::move(*middle);
  }

  /// What is missing in the report, and why.
  void note_missing(ProfileReport& report) const {
    if (asked(options_.context)) report.partial = "interrupted";
    if (!options_.inside || !report.partial.empty()) return;
    size_t missing = 0;
    for (const KernelRow& row : report.kernels)
      missing +=
          row.inside.empty() && row.compiler.empty() && !row.origins.empty() && row.target == report.target;
    if (missing == 0) return;
    char text[160];
    std::snprintf(text, sizeof text,
                  "%zu of %zu kernels were not split: the %.0f s of --max-seconds were spent", missing,
                  report.kernels.size(), options_.max_seconds);
    report.notes.push_back(text);
  }

 private:
  std::string wait() {
    const Budget::Pause waiting(&budget_);
    WaitOptions wait;
    wait.limit_s = options_.wait_s;
    wait.interrupt = options_.context.interrupt;
    wait.progress = [&](double busy, double seconds) {
      char text[80];
      std::snprintf(text, sizeof text, "waiting: others keep %.1f processors busy, second", busy);
      phase_ = text;
      show(static_cast<int>(seconds), static_cast<int>(options_.wait_s));
    };
    const WaitResult waited = wait_until_quiet(wait);
    if (waited.interrupted) throw Interrupted("interrupted while waiting for a quiet machine");
    return waited.note;
  }

  /// `after_s`: what follows the phase.
  void begin(const std::string& phase, double after_s) {
    phase_ = phase;
    phase_begin_ = monotonic_ns();
    after_s_ = after_s;
  }

  void show(int done, int total) {
    if (!options_.progress) return;
    ProfileProgress now{phase_, done, total, std::nullopt};
    if (done > 0) {
      const double passed = static_cast<double>(monotonic_ns() - phase_begin_) / 1e9;
      now.seconds_left = std::min(passed * (total - done) / done + after_s_, budget_.left());
    }
    options_.progress(now);
  }

  ProfileOptions options_;
  Budget budget_;
  int threads_;
  std::string phase_;
  int64_t phase_begin_ = 0;
  double after_s_ = 0;
};

void add_machine(ProfileReport& report, const ProfileOptions& options, int threads) {
  report.threads = threads;
  report.machine = options.context.host().name;
  report.host = machine_name();
  report.sheet = options.context.host();
}

}  // namespace

ProfileReport profile(const BuildResult& built, Executor& executor, const ProfileOptions& options) {
  Profiler profiler(options, executor.threads());
  const std::optional<UnfusedModel> unfused = profiler.unfused(built, executor);
  const AnotherExecutor another =
      options.another ? options.another : [&] { return another_executor(built, executor); };
  std::vector<MeasuredModel> models{{&executor, another}};
  if (unfused)
    models.push_back(
        {unfused->executor.get(), [&] { return another_executor(unfused->built, *unfused->executor); }});
  std::map<std::string, InsideTimes> inside;
  const std::vector<FusedTimes> times = profiler.measured(
      models, options.inside ? executor.plan().nodes.size() : 0,
      [&](ModelMeasurement& model) { inside = profiler.inside(built, executor, model, another); });
  std::optional<RunTimeline> timeline = profiler.timeline(executor);
  ProfileReport report = make_report(built, executor.plan(), times[0], inside);
  add_machine(report, options, executor.threads());
  report.timeline = std::move(timeline);
  add_memory(report, executor);
  if (unfused) add_unfused(report, *unfused, times[1]);
  profiler.peaks(report);
  profiler.note_missing(report);
  return report;
}

ProfileReport profile(const ProgramSource& source, const ProgramCall& call, const ProfileOptions& options) {
  const int threads = call.threads > 0 ? call.threads : default_threads();
  Profiler profiler(options, threads);
  const RunContext context(options.context);
  // Short runs end before the profile does; longer ones are stopped, and it with them.
  const RunContext unstopped(nullptr, context.compiler);
  double last_s = kLongRun;
  vm::MeasuredRun all;
  std::shared_ptr<RunnableProgram> program;
  MeasuredModel model;
  model.program = [&](SampleClock& clock) {
    program = source.make();  // elsewhere in memory in each round
    const auto run = [&, own = program](vm::MeasuredRun* measured) {
      const RunContext& how = last_s < kLongRun ? unstopped : context;
      const int64_t began = monotonic_ns();
      if (measured)
        (void)own->run_measured(call.function, call.args, how, *measured);
      else
        (void)own->run(call.function, call.args, how);
      last_s = seconds_since(began);
    };
    return std::make_unique<MachineClock>(clock, run, *source.plan, threads, all);
  };
  FusedTimes fused = std::move(profiler.measured({model}, 0).front());
  ProgramTimes times = take_program_times(fused, all, source);
  ProfileReport report = source.report(fused);
  report.program = std::move(times);
  report.between_us.reset();
  add_machine(report, options, threads);
  add_calls(report, source, all);
  add_program_memory(report, source, call, program->arena_bytes());
  const vm::FunctionCode& code =
      source.program->functions[static_cast<size_t>(source.program->find(call.function))];
  for (size_t i = 0; i < call.args.size(); ++i) {
    for (const NDArray& tensor : tensors_of({&call.args[i], 1}))
      report.inputs.push_back({code.parameter_names[i], describe(tensor.shape(), tensor.dtype())});
  }
  profiler.peaks(report);
  if (asked(options.context)) report.partial = "interrupted";
  return report;
}

ProfileReport profile(const Artifact& artifact, const std::string& shown, Executor& executor,
                      const ProfileOptions& options) {
  const ReportSource source = report_source(artifact, shown);
  Profiler profiler(options, executor.threads());
  const FusedTimes fused = std::move(profiler.measured({{&executor, options.another}}, 0).front());
  ProfileReport report;
  try {
    report = make_report(source, executor.plan(), fused);
  } catch (const Error& error) {
    throw Error(shown + ": " + error.what());
  }
  add_machine(report, options, executor.threads());
  report.timeline = profiler.timeline(executor);
  add_memory(report, executor);
  report.opt_level = -1;  // not stored in the file
  report.notes.push_back(
      "an artifact holds no Relay, so there are no unfused and inside times: profile the model itself for "
      "them");
  profiler.peaks(report);
  return report;
}

}  // namespace baton
