#include "baton/campaign/campaign.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "baton/campaign/inside_rows.h"
#include "baton/campaign/programs.h"
#include "baton/campaign/reference.h"
#include "baton/farm/bundle.h"
#include "baton/farm/job/machine_lock.h"
#include "baton/frontend/variations/choice.h"
#include "baton/profile/conditions/quiet.h"
#include "baton/profile/report/peaks.h"
#include "baton/runtime/timers.h"
#include "baton/store/machine.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"
#include "baton/support/json.h"

namespace baton {

namespace {

constexpr char kReferenceBackend[] = "llvm";
constexpr char kVisit[] = "#";       // behind a configuration's key: the number of the second visit, or later
constexpr int kMostRetries = 2;      // of a job whose worker was lost
constexpr double kAskS = 1;          // for results
constexpr double kNoAnswerS = 600;   // beyond the time limit, after which the service counts as gone
constexpr double kBusyShare = 0.05;  // of the processors, from which on it is worth waiting
constexpr double kLookS = 0.3;

double elapsed_s(int64_t since) { return static_cast<double>(monotonic_ns() - since) / 1e9; }
int64_t now_s() { return static_cast<int64_t>(std::time(nullptr)); }

template <class T>
void shuffle(std::vector<T>& list, Choice& choose) {
  for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[choose.index(i)]);
}

bool is_of_computation(WorkKind kind) { return kind == WorkKind::kKernel || kind == WorkKind::kModel; }

std::string visit_suffix(int visit) { return visit == 1 ? "" : kVisit + std::to_string(visit); }

/// The configuration's key, and which visit the row is of.
std::pair<std::string, int> key_and_visit(const std::string& configuration) {
  const size_t at = configuration.find(kVisit);
  if (at == std::string::npos) return {configuration, 1};
  return {configuration.substr(0, at), std::max(1, std::atoi(configuration.c_str() + at + 1))};
}

class Campaign {
 public:
  Campaign(Store& store, const Design& design, const CampaignWorker& worker, const CampaignOptions& options)
      : store_(store),
        design_(design),
        worker_(worker),
        options_(options),
        context_(options.context.at_level(design.opt_level)) {}

  CampaignReport run() {
    begin_ = monotonic_ns();
    report_.name = options_.name;
    show("reading the design");
    plan_ = plan_campaign(design_, options_.context);
    report_.configurations = static_cast<int>(plan_.configurations.size());
    leave_out_finished();
    stage_ = {"", begin_, report_.finished_before, 0, report_.configurations};
    try {
      if (!plan_.configurations.empty() || !unsteady_.empty()) measure_all();
    } catch (const Interrupted&) {
      report_.partial = "interrupted";
    }
    report_.seconds = elapsed_s(begin_);
    return std::move(report_);
  }

 private:
  /// A job that was submitted.
  struct InFlight {
    const Configuration* configuration = nullptr;
    const Program* program = nullptr;
    Job job;
    int visit = 1;
    int retries = 0;
    int64_t begun_s = 0;
  };

  /// What the progress is of: all configurations, or those that are visited again.
  struct Stage {
    std::string suffix;  // of the phase: " again"
    int64_t begin = 0;
    int done_before = 0, done = 0, total = 0;
  };

  /// When a machine's reference was last asked for, and how many jobs had been submitted.
  struct Asked {
    int64_t at_ns = 0, submitted = 0;
  };

  /// The last visit of a configuration by the rows of earlier sessions.
  struct Visited {
    int visit = 0;
    bool unsteady = false, failed = false;
  };

  std::map<std::string, Visited> visited_before() const {
    std::map<std::string, Visited> all;
    StoreQuery query;
    query.campaign = options_.name;
    for (const auto& row : store_.table(query, {"configuration", "kind", "unreliable", "cv", "cache"}).rows) {
      const auto text = [&](size_t i) {
        const auto* value = std::get_if<std::string>(&row[i]);
        return value ? *value : std::string();
      };
      const auto [key, visit] = key_and_visit(text(0));
      Visited& last = all[key];
      if (visit < last.visit) continue;
      if (visit > last.visit) last = {visit, false, false};
      const std::string unreliable = text(2);
      last.failed |= unreliable.starts_with("failed: ");
      const auto kind = work_kind_named(text(1));
      if (!kind || !is_of_computation(*kind)) continue;
      const auto* cv = std::get_if<double>(&row[3]);
      last.unsteady |= !is_steady(unreliable, cv ? *cv : 0, cache_state_named(text(4)));
    }
    return all;
  }

  /// Whether the time is as sure as it gets. A kernel in a model varies with its neighbours, too.
  bool is_steady(const std::string& unreliable, double cv, std::optional<CacheState> cache) const {
    return unreliable.empty() && (cv <= design_.protocol.cv || cache == CacheState::kInModel);
  }

  void leave_out_finished() {
    const std::vector<std::string> finished = store_.finished(options_.name);
    std::set<std::string> known(finished.begin(), finished.end());
    if (options_.retry_failed) {
      std::set<std::string> failed;
      for (const std::string& key : store_.failed(options_.name))
        if (known.erase(key)) failed.insert(key);
      report_.retried = static_cast<int>(std::ranges::count_if(
          plan_.configurations, [&](const Configuration& each) { return failed.contains(each.key); }));
    }
    const auto rest = std::ranges::stable_partition(
        plan_.configurations, [&](const Configuration& each) { return !known.contains(each.key); });
    finished_.assign(rest.begin(), rest.end());
    plan_.configurations.erase(rest.begin(), rest.end());
    report_.finished_before = static_cast<int>(finished_.size());
    std::map<std::string, Visited> before = visited_before();
    for (const Configuration& each : finished_) {
      const Visited& last = before[each.key];
      if (last.unsteady && !last.failed && last.visit < design_.visits)
        unsteady_[last.visit].push_back(&each);
    }
  }

  bool late() const { return elapsed_s(begin_) >= options_.max_seconds; }

  void measure_all() {
    if (worker_.here) locked();
    reference_.emplace(worker_, context_);
    know_machine();
    for (size_t next = 0; next < plan_.configurations.size();) {
      if (late()) {
        report_.partial = "time";
        break;
      }
      next = batch(next);
    }
    if (report_.partial.empty()) visit_again();
    if (drifted_ > 0)
      report_.notes.push_back(
          std::to_string(drifted_) + " configurations are marked: the reference kernel took up to " +
          std::to_string(static_cast<int>(report_.drift * 100 + 0.5)) + " % more or less than usual");
    reference_.reset();
  }

  /// Builds some programs, then measures them: compiling beside a measurement would disturb it. Returns the
  /// next configuration.
  size_t batch(size_t first) {
    size_t last = first;
    std::vector<Program> programs;
    while (last < plan_.configurations.size()) {
      const Configuration& each = plan_.configurations[last];
      if (programs.empty() || programs.back().subject != &plan_.subjects[each.subject] ||
          programs.back().backend != each.backend) {
        if (static_cast<int>(programs.size()) == options_.batch) break;
        programs.emplace_back(plan_.subjects[each.subject], each.backend);
      }
      programs.back().configurations.push_back(&each);
      ++last;
    }
    measure_programs(programs, 1);
    return last;
  }

  void measure_programs(std::vector<Program>& programs, int visit) {
    const int64_t building = monotonic_ns();
    show("building");
    build_programs(programs, context_);
    report_.build_s += elapsed_s(building);
    wait_for_quiet();
    const int64_t measuring = monotonic_ns();
    std::vector<InFlight> jobs;
    for (Program& program : programs) {
      add(program);
      for (const Configuration* each : program.configurations) {
        if (program.built)
          jobs.push_back({each, &program, job_of(program, *each), visit, 0, 0});
        else
          fail({each, &program, {}, visit, 0, now_s()}, program.error);
      }
    }
    Choice choose(design_.seed + static_cast<uint64_t>(report_.measured), "order");
    shuffle(jobs, choose);
    try {
      measure(jobs);
    } catch (...) {
      report_.measure_s += elapsed_s(measuring);
      release(programs);
      throw;
    }
    report_.measure_s += elapsed_s(measuring);
    release(programs);
  }

  void add(Program& program) {
    if (!program.built) return;
    try {
      program.bundle = worker_.add(program.name(), program.built, reference_of(program));
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      program.built.reset();
      program.error = error.what();
    }
  }

  /// Outputs of the processor's own build of a subject, which all its builds must have. They are run here:
  /// devices are left to the workers.
  std::vector<NDArray> reference_of(const Program& program) {
    if (program.subject->kind == Subject::Kind::kTransfer) return {};  // only its own build has the copies
    if (expected_of_ == program.subject) return expected_;
    std::shared_ptr<const BuildResult> built = program.backend == kReferenceBackend ? program.built : nullptr;
    if (!built) {
      std::vector<Program> own;
      own.emplace_back(*program.subject, kReferenceBackend);
      build_programs(own, context_);
      if (!own.front().built) throw Error("no reference run: " + own.front().error);
      built = own.front().built;
    }
    expected_ = reference_outputs(*built, {.model = program.name()});
    expected_of_ = program.subject;
    return expected_;
  }

  void release(std::vector<Program>& programs) const {
    for (Program& program : programs)
      if (!program.bundle.empty()) worker_.remove(program.bundle);
  }

  Job job_of(const Program& program, const Configuration& configuration) const {
    Job job;
    job.id = configuration.key;
    job.bundle = program.bundle;
    job.threads = configuration.threads;
    job.protocol = design_.protocol;
    job.protocol.caches = design_.caches;
    job.protocol.nodes = true;
    job.protocol.alone = program.subject->kind != Subject::Kind::kModel;
    return job;
  }

  /// As many at a time as the worker has places; the rows of each are committed as soon as they are there.
  void measure(std::vector<InFlight>& jobs) {
    std::map<std::string, InFlight> waiting;
    size_t next = 0;
    int64_t heard = monotonic_ns();
    while (next < jobs.size() || !waiting.empty()) {
      stop_if_asked(context_.interrupt);
      if (late() && waiting.empty()) {
        report_.partial = "time";
        return;
      }
      const auto places = static_cast<size_t>(std::max(1, worker_.worker->places()));
      // Here before the next job: nothing else is measured meanwhile.
      if (next < jobs.size() && (!worker_.here || waiting.empty())) ask_references();
      while (next < jobs.size() && !late() && waiting.size() + asked_.size() < places) {
        InFlight& job = jobs[next++];
        job.begun_s = now_s();
        worker_.worker->submit(job.job);
        ++submitted_;
        waiting.emplace(job.job.id, job);
        heard = monotonic_ns();
      }
      if (waiting.empty() && asked_.empty()) return;
      show("measuring");
      const std::optional<JobResult> result = next_result();
      if (!result) {
        if (elapsed_s(heard) > design_.protocol.time_limit_s + kNoAnswerS)
          throw Error("no worker has answered for " + std::to_string(static_cast<int>(elapsed_s(heard))) +
                      " s: what was measured is in the store, and the same command goes on from there");
        continue;
      }
      heard = monotonic_ns();
      if (const auto asked = asked_.find(result->id); asked != asked_.end()) {
        take_reference(*result, asked->second);
        asked_.erase(asked);
        continue;
      }
      const auto at = waiting.find(result->id);
      if (at == waiting.end()) continue;
      InFlight job = at->second;
      waiting.erase(at);
      if (result->retry && job.retries++ < kMostRetries) {
        worker_.worker->submit(job.job);
        waiting.emplace(job.job.id, std::move(job));
        continue;
      }
      finish(job, *result);
    }
  }

  void finish(const InFlight& job, const JobResult& result) {
    if (!result.error.empty()) return fail(job, result.error, &result);
    const RowSource source = source_of(job, result.machine);
    std::vector<Measurement> rows;
    try {
      rows = measurements_of_job(result, source);
      if (design_.inside && worker_.here) {
        const MachineLock lock = locked();
        std::vector<Measurement> parts = inside_rows(source, context_);
        rows.insert(rows.end(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
      }
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      return fail(job, error.what(), &result);
    }
    if (rows.empty()) return fail(job, "it computes nothing that could be measured", &result);
    report_.rows += store_.insert(rows);
    job.visit == 1 ? ++report_.measured : ++report_.revisited;
    ++stage_.done;
    drifted_ += has_drifted(times_[result.machine]);
    bool steady = true;
    for (const Measurement& row : rows) {
      if (!is_of_computation(row.work.kind)) continue;
      steady &= is_steady(row.unreliable, row.cv, row.cache);
      if (!row.unreliable.empty()) continue;
      ++report_.timed_rows;
      report_.steady_rows += row.cv <= design_.protocol.cv;
    }
    if (!steady) unsteady_[job.visit].push_back(job.configuration);
    show("measuring");
  }

  /// `result`: of the machine on which it failed; null: it came to none.
  void fail(const InFlight& job, const std::string& why, const JobResult* result = nullptr) {
    const RowSource source = source_of(job, result ? result->machine : "");
    Measurement row = failed_measurement(source, why.substr(0, why.find('\n')));
    if (result && !result->machine.empty()) {
      row.machine = result->machine;
      row.device = result->device;
    }
    report_.rows += store_.insert({&row, 1});
    ++report_.failed;
    ++stage_.done;
    report_.failures.push_back(
        {job.configuration->key, job.program->subject->name, job.configuration->backend, why});
  }

  /// Where neighbours share caches and memory, the reference varies by more than the limit all the time: that
  /// is in the spread of each row, too.
  bool has_drifted(const ReferenceTimes& times) const {
    return times.drift() > std::max(options_.drift, times.usual_drift());
  }

  RowSource source_of(const InFlight& job, const std::string& machine) const {
    const auto at = times_.find(machine);
    const ReferenceTimes times = at != times_.end() ? at->second : ReferenceTimes();
    RowSource source;
    source.subject = job.program->subject;
    source.built = job.program->built.get();
    source.configuration = job.configuration;
    source.context = &context_;
    source.campaign = options_.name;
    source.visit = visit_suffix(job.visit);
    source.reference_us = times.last_us();
    source.begun_s = job.begun_s;
    if (has_drifted(times)) {
      char text[120];
      std::snprintf(text, sizeof text,
                    "the machine's speed drifted: the reference kernel took %.1f us, usually %.1f us",
                    times.last_us(), times.usual_us());
      source.unreliable = text;
    }
    return source;
  }

  /// Those that were disturbed or whose samples varied too much, once more at the end, when the machine may
  /// be quieter; also those of earlier sessions.
  void visit_again() {
    for (int visit = 2; visit <= design_.visits; ++visit) {
      std::vector<const Configuration*> again = std::exchange(unsteady_[visit - 1], {});
      std::ranges::stable_sort(again, {}, [](const Configuration* each) { return each->subject; });
      stage_ = {" again", monotonic_ns(), 0, 0, static_cast<int>(again.size())};
      for (size_t next = 0; next < again.size();) {
        if (late()) {
          report_.partial = "time";
          return;
        }
        std::vector<Program> programs;
        for (; next < again.size(); ++next) {
          const Configuration& each = *again[next];
          const Subject& subject = plan_.subjects[each.subject];
          if (programs.empty() || programs.back().subject != &subject ||
              programs.back().backend != each.backend) {
            if (static_cast<int>(programs.size()) == options_.batch) break;
            programs.emplace_back(subject, each.backend);
          }
          programs.back().configurations.push_back(&each);
        }
        measure_programs(programs, visit);
      }
    }
  }

  /// Its peak rates, which predictors start from.
  void know_machine() {
    if (!worker_.here) return;
    KernelCache& cache = context_.cache ? *context_.cache : KernelCache::shared();
    std::string why;
    const int threads = *std::ranges::max_element(design_.threads);
    sheet_ = measured_sheet(context_.host(), threads, cache, why, options_.system);
    if (!sheet_)
      report_.notes.push_back("rows have no peak rates of the machine, which could not be measured: " + why);
  }

  /// What a worker answers, with the peak rates of its machine where they are known.
  std::optional<JobResult> next_result() {
    std::optional<JobResult> result = worker_.worker->next(kAskS);
    if (result && sheet_) result->device = *sheet_;
    return result;
  }

  /// What the reference took on this machine, earlier in this campaign too.
  ReferenceTimes& times_of(const std::string& machine) {
    const auto [at, is_new] = times_.try_emplace(machine);
    if (!is_new) return at->second;
    StoreQuery query;
    query.kind = WorkKind::kReference;
    query.campaign = options_.name;
    query.machine = machine;
    query.reliable_only = true;
    for (const Measurement& row : store_.select(query)) at->second.known(row.reference_us);
    return at->second;
  }

  /// Every minute on each machine.
  void ask_references() {
    for (const WorkerMachine& machine : worker_.worker->machine_list()) {
      const std::string name = worker_.here ? "" : machine.name;
      const auto [at, is_new] = asked_at_.try_emplace(name);
      Asked& last = at->second;
      if (!is_new && (elapsed_s(last.at_ns) < options_.reference_s || last.submitted == submitted_)) continue;
      const Job job = reference_->job(name);
      if (!asked_.emplace(job.id, now_s()).second) continue;  // not answered yet
      last = {monotonic_ns(), submitted_};
      worker_.worker->submit(job);
    }
  }

  void take_reference(const JobResult& result, int64_t begun_s) {
    if (!result.error.empty() || result.rows.empty()) {
      const std::string why = result.error.empty() ? "it was not measured" : result.error;
      if (worker_.here && !result.retry) throw Error("the reference kernel cannot be measured: " + why);
      const std::string machine = result.id.substr(std::min(result.id.size(), result.id.find('@') + 1));
      const std::string note = "the reference kernel could not be measured on " + machine + ": " + why;
      if (!result.retry && std::ranges::find(report_.notes, note) == report_.notes.end())
        report_.notes.push_back(note);
      if (worker_.here)
        asked_at_.clear();  // its runner was killed: another one measures it before the next job
      return;
    }
    const Configuration configuration{"reference", 0, "llvm", 1};
    Subject whole = reference_->subject();
    whole.kind = Subject::Kind::kModel;
    RowSource source;
    source.subject = &whole;
    source.built = &reference_->program();
    source.configuration = &configuration;
    source.context = &reference_->context();
    source.campaign = options_.name;
    source.begun_s = begun_s;
    JobResult first = result;
    first.rows.resize(1);
    first.rows[0].node.clear();
    std::vector<Measurement> rows = measurements_of_job(first, source);
    ReferenceTimes& times = times_of(result.machine);
    for (Measurement& row : rows) {
      row.model.clear();
      row.model_id.clear();
      row.reference_us = reference_us_of(row);
      times.add(row.reference_us, row.unreliable.empty());
    }
    report_.rows += store_.insert(rows);
    report_.reference_us = times.usual_us();
    report_.drift = std::max(report_.drift, times.drift());
  }

  /// Before each batch; looks for a third of a second, and waits only where others are at work.
  /// For another campaign, which has the machine for a program at a time.
  MachineLock locked() {
    return MachineLock(machine_lock_path(), [&](double waited_s) {
      stop_if_asked(context_.interrupt);
      if (waited_s > 1) show("waiting for another measurement on this machine");
      return true;
    });
  }

  void wait_for_quiet() {
    if (!worker_.here) return;  // runners look themselves
    locked();
    const int64_t begin = monotonic_ns();
    const SystemReading before = options_.system();
    std::this_thread::sleep_for(std::chrono::duration<double>(kLookS));
    const Disturbance now = disturbance(before, options_.system());
    if (now.others() < kBusyShare * now.processors) return;
    WaitOptions wait;
    wait.limit_s = options_.wait_s;
    wait.interrupt = context_.interrupt;
    wait.read = [this] { return options_.system().cpu; };
    wait.progress = [&](double busy, double) {
      char text[80];
      std::snprintf(text, sizeof text, "waiting: others keep %.1f processors busy", busy);
      show(text);
    };
    const WaitResult waited = wait_until_quiet(wait);
    stop_if_asked(context_.interrupt);
    report_.wait_s += elapsed_s(begin);
    if (!waited.quiet && (report_.notes.empty() || report_.notes.back() != kUnderLoad))
      report_.notes.push_back(kUnderLoad);
  }

  void show(const std::string& phase) {
    if (!options_.progress) return;
    CampaignProgress now;
    now.phase = phase + stage_.suffix;
    now.total = stage_.total;
    now.done = stage_.done_before + stage_.done;
    const double seconds = elapsed_s(stage_.begin);
    if (stage_.done > 0 && seconds > 0) {
      now.per_hour = stage_.done * 3600 / seconds;
      now.seconds_left = std::max(0, now.total - now.done) * seconds / stage_.done;
    }
    options_.progress(now);
  }

  static constexpr char kUnderLoad[] =
      "other programs did not leave the machine alone: some times are those of the least disturbed samples, "
      "with a wider +-";

  Store& store_;
  const Design& design_;
  const CampaignWorker& worker_;
  const CampaignOptions& options_;
  const BuildContext context_;  // at the level of the design
  CampaignPlan plan_;
  CampaignReport report_;
  std::optional<Reference> reference_;
  std::vector<Configuration> finished_;                        // in earlier sessions
  std::map<int, std::vector<const Configuration*>> unsteady_;  // by their last visit
  std::optional<DeviceSheet> sheet_;                           // of this machine, with its peak rates
  std::map<std::string, ReferenceTimes> times_;                // by machine
  std::map<std::string, int64_t> asked_;   // references that are not answered, by id: since when
  std::map<std::string, Asked> asked_at_;  // by machine
  int64_t submitted_ = 0;                  // jobs
  const Subject* expected_of_ = nullptr;
  std::vector<NDArray> expected_;
  int drifted_ = 0;  // configurations
  int64_t begin_ = 0;
  Stage stage_;
};

}  // namespace

CampaignPlan plan_campaign(const Design& design, const BuildContext& context) {
  check_design(design);
  CampaignPlan plan;
  plan.subjects = subjects_of(design, context, uncertainty_of(design));
  std::vector<std::vector<Configuration>> groups;
  std::set<std::string> seen;
  for (size_t i = 0; i < plan.subjects.size(); ++i)
    for (const std::string& backend : design.backends) {
      const Subject& subject = plan.subjects[i];
      // A copy is of the device that it names.
      if (subject.kind == Subject::Kind::kTransfer &&
          subject.name.find(" to " + backend + " ") == std::string::npos)
        continue;
      std::vector<Configuration>& group = groups.emplace_back();
      for (const int threads : design.threads) {
        Configuration each{configuration_key(subject, backend, threads, design), i, backend, threads};
        if (seen.insert(each.key).second) group.push_back(std::move(each));
      }
    }
  Choice choose(design.seed, "order of builds");
  shuffle(groups, choose);
  for (std::vector<Configuration>& group : groups)
    for (Configuration& each : group) plan.configurations.push_back(std::move(each));
  return plan;
}

CampaignReport run_campaign(Store& store, const Design& design, const CampaignWorker& worker,
                            const CampaignOptions& options) {
  return Campaign(store, design, worker, options).run();
}

CampaignStatus campaign_status(const Store& store, const std::string& name) {
  CampaignStatus status;
  status.name = name;
  StoreQuery query;
  query.campaign = name;
  std::set<std::string> configurations;
  store.each(query, [&](const Measurement& row) {
    ++status.rows;
    if (row.work.kind == WorkKind::kReference) return ++status.references, true;
    if (row.unreliable.starts_with("failed: ")) return true;
    configurations.insert(key_and_visit(row.configuration).first);
    ++status.rows_of[std::string(work_kind_name(row.work.kind)) + " " + row.build.backend];
    return true;
  });
  status.configurations = configurations.size();
  for (const std::string& key : store.failed(name)) status.failed += key_and_visit(key).second == 1;
  return status;
}

std::string campaign_json(const CampaignReport& report) {
  Json failures = Json::array();
  for (const CampaignFailure& each : report.failures)
    failures.push_back(
        {{"configuration", each.key}, {"name", each.name}, {"backend", each.backend}, {"why", each.why}});
  return Json{{"schema", 1},
              {"campaign", report.name},
              {"configurations", report.configurations},
              {"finished_before", report.finished_before},
              {"retried", report.retried},
              {"measured", report.measured},
              {"failed", report.failed},
              {"revisited", report.revisited},
              {"rows", report.rows},
              {"timed_rows", report.timed_rows},
              {"steady_rows", report.steady_rows},
              {"seconds", report.seconds},
              {"build_s", report.build_s},
              {"measure_s", report.measure_s},
              {"wait_s", report.wait_s},
              {"per_hour", report.per_hour()},
              {"reference_us", report.reference_us},
              {"drift", report.drift},
              {"partial", report.partial.empty() ? Json(nullptr) : Json(report.partial)},
              {"notes", report.notes},
              {"failures", failures}}
      .dump();
}

std::string campaign_json(const CampaignStatus& status) {
  return Json{{"schema", 1},
              {"campaign", status.name},
              {"rows", status.rows},
              {"configurations", status.configurations},
              {"failed", status.failed},
              {"references", status.references},
              {"rows_of", status.rows_of}}
      .dump();
}

}  // namespace baton
