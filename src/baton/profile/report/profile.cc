#include "baton/profile/report/profile.h"

#include <nlohmann/json.hpp>

#include "baton/driver/origins/origins_json.h"
#include "baton/profile/inside/inside.h"
#include "baton/profile/report/memory.h"
#include "baton/profile/report/unfused.h"
#include "baton/support/error.h"
#include "baton/support/version.h"

namespace baton {

namespace {

class Profiler {
 public:
  Profiler(Executor& executor, const ProfileOptions& options) : executor_(executor), options_(options) {
    options_.measure.interrupt = options.context.interrupt;
    options_.measure.waited = options.wait_s > 0;
  }

  /// Times of the executor, and of the unfused model if there is one.
  std::vector<FusedTimes> measured(Executor* unfused) {
    std::string waited;
    if (options_.wait_s > 0) waited = wait();
    show("measuring the model", 0, 1);
    std::vector<Executor*> executors{&executor_};
    if (unfused) executors.push_back(unfused);
    std::vector<FusedTimes> times = measure_in_turns(executors, options_.measure);
    if (!waited.empty()) times[0].notes.insert(times[0].notes.begin(), waited);
    return times;
  }

  void peaks(ProfileReport& report) {
    if (!options_.peaks) return;
    show("measuring the machine", 0, 1);
    KernelCache& cache = options_.context.cache ? *options_.context.cache : KernelCache::shared();
    add_peaks(report, measured_sheet(options_.context.host(), executor_.threads(), cache));
  }

  std::optional<UnfusedModel> unfused(const BuildResult& built) {
    if (!options_.unfused) return std::nullopt;
    BuildOptions how;
    how.context = options_.context;
    how.context.progress = [&](const std::string& phase, int done, int total) {
      if (phase == "kernels") show("building every operator by itself", done, total);
    };
    return build_unfused(built, executor_, how);
  }

  std::map<std::string, InsideTimes> inside(const BuildResult& built) {
    if (!options_.inside) return {};
    InsideOptions inside(options_.context);
    inside.ms_per_kernel = options_.inside_ms;
    inside.threads = executor_.threads();
    inside.compile.progress = [&](const std::string&, int done, int total) {
      show("building variants of kernels", done, total);
    };
    inside.progress = [&](int done, int total) { show("measuring inside kernels", done, total); };
    return measure_inside(built, executor_, inside);
  }

 private:
  std::string wait() {
    WaitOptions wait;
    wait.limit_s = options_.wait_s;
    wait.interrupt = options_.context.interrupt;
    wait.progress = [&](double busy, double seconds) {
      char text[80];
      std::snprintf(text, sizeof text, "waiting: others keep %.1f processors busy, second", busy);
      show(text, static_cast<int>(seconds), static_cast<int>(options_.wait_s));
    };
    return wait_until_quiet(wait).note;
  }

  void show(const std::string& what, int done, int total) {
    if (options_.context.interrupt && *options_.context.interrupt)
      throw Interrupted("interrupted while measuring; nothing was written");
    if (options_.context.progress) options_.context.progress(what, done, total);
  }

  Executor& executor_;
  ProfileOptions options_;
};

}  // namespace

ProfileReport profile(const BuildResult& built, Executor& executor, const ProfileOptions& options) {
  Profiler profiler(executor, options);
  const std::optional<UnfusedModel> unfused = profiler.unfused(built);
  const std::vector<FusedTimes> times = profiler.measured(unfused ? unfused->executor.get() : nullptr);
  const std::map<std::string, InsideTimes> inside = profiler.inside(built);
  ProfileReport report = make_report(built, executor.plan(), times[0], inside);
  report.threads = executor.threads();
  report.machine = options.context.host().name;
  add_memory(report, executor);
  if (unfused) add_unfused(report, *unfused, times[1]);
  profiler.peaks(report);
  return report;
}

ReportSource report_source(const Artifact& artifact, const std::string& shown) {
  const std::string again = ": make the artifact anew with `baton build`";
  if (!artifact.has(section::kOrigins))
    throw Error(shown + " has no section " + section::kOrigins +
                ", it was stripped of its origins: nothing says which operators its kernels "
                "compute" +
                again + ", or profile the model itself");
  ReportSource source;
  try {
    source.origins = read_origins(artifact.text(section::kOrigins));
  } catch (const Error& error) {
    throw Error(shown + ": " + error.what());
  }
  const auto meta = nlohmann::json::parse(artifact.text(section::kMeta), nullptr, false);
  if (!meta.is_object())
    throw Error(shown + " does not say what its kernels are (section " + section::kMeta + ")" + again);
  if (meta.value("schema", 0) != 1)
    throw Error(shown + " was made by Baton " + meta.value("version", "of unknown version") +
                ", this is Baton " + std::string(version()) + ", which cannot read its " + section::kMeta +
                again);
  try {
    source.target = meta.at("target");
    for (const auto& kernel : meta.at("kernels"))
      source.kernels[kernel.at("func_name")] = {
          {kernel.value("relay", ""), kernel.value("brief", ""), kernel.at("template"),
           kernel.at("params").get<KernelParams>()},
          {kernel.at("flops"), kernel.at("bytes")}};
  } catch (const nlohmann::json::exception& error) {
    throw Error(shown + ": " + section::kMeta + " is damaged (" + error.what() + ")" + again);
  }
  return source;
}

ProfileReport profile(const Artifact& artifact, const std::string& shown, Executor& executor,
                      const ProfileOptions& options) {
  const ReportSource source = report_source(artifact, shown);
  Profiler profiler(executor, options);
  const FusedTimes fused = std::move(profiler.measured(nullptr).front());
  ProfileReport report;
  try {
    report = make_report(source, executor.plan(), fused);
  } catch (const Error& error) {
    throw Error(shown + ": " + error.what());
  }
  report.threads = executor.threads();
  report.machine = options.context.host().name;
  add_memory(report, executor);
  report.opt_level = -1;  // not stored in the file
  report.notes.push_back(
      "an artifact holds no Relay, so there are no unfused and inside times: profile the model itself for "
      "them");
  profiler.peaks(report);
  return report;
}

}  // namespace baton
