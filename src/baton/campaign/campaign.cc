#include "baton/campaign/campaign.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "baton/campaign/inside_rows.h"
#include "baton/campaign/programs.h"
#include "baton/campaign/reference.h"
#include "baton/campaign/remaining.h"
#include "baton/campaign/result_checks.h"
#include "baton/clock/quiet.h"
#include "baton/farm/bundle.h"
#include "baton/farm/job/machine_lock.h"
#include "baton/frontend/variations/choice.h"
#include "baton/profile/report/peaks.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"
#include "baton/support/json.h"

namespace baton {

namespace {

constexpr char kReferenceBackend[] = "llvm";
constexpr int kMostRetries = 2;      // of a job whose worker was lost
constexpr double kAskS = 1;          // for results
constexpr double kNoAnswerS = 600;   // beyond the time limit, after which the service counts as gone
constexpr double kBusyShare = 0.05;  // of the processors, from which on it is worth waiting
constexpr double kLookS = 0.3;
const std::string kNotBelieved = "not believed: ";
constexpr char kUnderLoad[] =
    "other programs did not leave the machine alone: some times are those of the least disturbed samples, "
    "with a wider +-";

int64_t now_s() { return static_cast<int64_t>(std::time(nullptr)); }

template <class T>
void shuffle(std::vector<T>& list, Choice& choose) {
  for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[choose.index(i)]);
}

/// What a campaign is given, and how far it is.
struct Course {
  Store& store;
  const Design& design;
  const CampaignWorker& worker;
  const CampaignOptions& options;
  const BuildContext context;  ///< at the level of the design
  CampaignReport report = {};
  int64_t begin = monotonic_ns();
  /// What the progress is of: all configurations, or those that are visited again.
  struct Stage {
    std::string suffix = {};  ///< the end of the phase's name: " again"
    int64_t begin = 0;
    int done_before = 0, done = 0, total = 0;
  };
  Stage stage = {};

  bool late() const { return seconds_since(begin) >= options.max_seconds; }
  void show(const std::string& phase) const;
  /// Waits for another campaign, which has the machine for a program at a time.
  MachineLock locked() const;
  /// Before each batch; looks for a third of a second, and waits only where others are at work.
  void wait_for_quiet();
};

void Course::show(const std::string& phase) const {
  if (!options.progress) return;
  CampaignProgress now;
  now.phase = phase + stage.suffix;
  now.total = stage.total;
  now.done = stage.done_before + stage.done;
  const double seconds = seconds_since(stage.begin);
  if (stage.done > 0 && seconds > 0) {
    now.per_hour = stage.done * 3600 / seconds;
    now.seconds_left = std::max(0, now.total - now.done) * seconds / stage.done;
  }
  options.progress(now);
}

MachineLock Course::locked() const {
  return MachineLock(machine_lock_path(), [&](double waited_s) {
    stop_if_asked(context.interrupt);
    if (waited_s > 1) show("waiting for another measurement on this machine");
    return true;
  });
}

void Course::wait_for_quiet() {
  if (!worker.here) return;  // runners look themselves
  locked();
  const int64_t begin = monotonic_ns();
  const SystemReading before = options.system();
  std::this_thread::sleep_for(std::chrono::duration<double>(kLookS));
  const Disturbance now = disturbance(before, options.system());
  if (now.others() < kBusyShare * now.processors) return;
  WaitOptions wait;
  wait.limit_s = options.wait_s;
  wait.interrupt = context.interrupt;
  wait.read = [this] { return options.system().cpu; };
  wait.progress = [&](double busy, double) {
    char text[80];
    std::snprintf(text, sizeof text, "waiting: others keep %.1f processors busy", busy);
    show(text);
  };
  const WaitResult waited = wait_until_quiet(wait);
  stop_if_asked(context.interrupt);
  report.wait_s += seconds_since(begin);
  if (!waited.quiet && (report.notes.empty() || report.notes.back() != kUnderLoad))
    report.notes.push_back(kUnderLoad);
}

/// Outputs of the processor's own build of a subject, which all its builds must have. They are run here:
/// devices are left to the workers.
class ExpectedOutputs {
 public:
  explicit ExpectedOutputs(const BuildContext& context) : context_(context) {}

  std::vector<NDArray> of(const Program& program) {
    if (program.subject->kind == Subject::Kind::kTransfer) return {};  // only its own build has the copies
    if (subject_ == program.subject) return outputs_;
    std::shared_ptr<const BuildResult> built = program.backend == kReferenceBackend ? program.built : nullptr;
    if (!built) {
      std::vector<Program> own;
      own.emplace_back(*program.subject, kReferenceBackend);
      build_programs(own, context_);
      if (!own.front().built) throw Error("no reference run: " + own.front().error);
      built = own.front().built;
    }
    outputs_ = reference_outputs(*built, {.model = program.name()});
    subject_ = program.subject;
    return outputs_;
  }

 private:
  const BuildContext& context_;
  const Subject* subject_ = nullptr;  ///< the last one
  std::vector<NDArray> outputs_;
};

/// A job that was submitted.
struct InFlight {
  const Configuration* configuration = nullptr;
  const Program* program = nullptr;
  Job job;
  int visit = 1;
  int retries = 0;
  int64_t begun_s = 0, begun_ns = 0;  ///< since 1970, and by the monotonic clock
  /// What came of it first, where that was not believed, and why; then this is the second look.
  std::optional<JobResult> first = {};
  std::string doubt = {};
};

/// Makes rows of results, and keeps account of them.
class ResultRows {
 public:
  ResultRows(Course& course, const MachineSpeeds& speeds, const KnownMachines& machines)
      : course_(course), speeds_(speeds), machines_(machines) {}

  /// False: it is not believed yet, and to be measured once more.
  bool finish(InFlight& job, const JobResult& result) {
    if (!result.error.empty()) return fail(job, seen_before(job) + result.error, &result), true;
    if (const std::string why = machines_.why_not(job.job, result); !why.empty())
      return fail(job, kNotBelieved + why), true;
    std::vector<Measurement> rows;
    try {
      rows = measurements_of_job(result, source_of(job, result.machine));
    } catch (const Error& error) {
      return fail(job, error.what(), &result), true;
    }
    if (rows.empty()) return fail(job, "it computes nothing that could be measured", &result), true;
    const ResultDoubt doubt = doubt_of(result, rows,
                                       {.job = &job.job,
                                        .plan = job.program->built->plan.graph.get(),
                                        .elapsed_s = seconds_since(job.begun_ns),
                                        .slowness = speeds_.slowness(result.machine)});
    if (doubt && !doubt.is_certain && !job.first) {
      job.first = result;
      job.doubt = doubt.why;
      return false;
    }
    if (doubt && (doubt.is_certain || !agree(*job.first, result)))
      return fail(job, seen_before(job) + kNotBelieved + doubt.why, &result), true;
    if (job.first && !doubt)
      note(job.program->subject->name + " was measured again: " + job.first->machine + " said " + job.doubt);
    keep(job, result, std::move(rows));
    return true;
  }

  /// `result`: of the machine on which it failed; null: it came to none.
  void fail(const InFlight& job, const std::string& why, const JobResult* result = nullptr) {
    const RowSource source = source_of(job, result ? result->machine : "");
    Measurement row = failed_measurement(source, why.substr(0, why.find('\n')));
    if (result && !result->machine.empty()) {
      row.machine = result->machine;
      row.device = result->device;
    }
    course_.report.rows += course_.store.insert({&row, 1});
    ++course_.report.failed;
    ++course_.stage.done;
    course_.report.failures.push_back(
        {job.configuration->key, job.program->subject->name, job.configuration->backend, why});
  }

  Unsteady& unsteady() { return unsteady_; }
  int drifted() const { return drifted_; }  ///< configurations

 private:
  void keep(const InFlight& job, const JobResult& result, std::vector<Measurement> rows) {
    try {
      add_parts(job, result, rows);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      return fail(job, error.what(), &result);
    }
    CampaignReport& report = course_.report;
    report.rows += course_.store.insert(rows);
    job.visit == 1 ? ++report.measured : ++report.revisited;
    ++course_.stage.done;
    drifted_ += speeds_.has_drifted(speeds_.of(result.machine));
    const Protocol& protocol = course_.design.protocol;
    bool steady = true;
    for (const Measurement& row : rows) {
      if (!is_of_computation(row.work.kind)) continue;
      steady &= is_steady(protocol, row.unreliable, row.cv, row.cache);
      if (!row.unreliable.empty()) continue;
      ++report.timed_rows;
      report.steady_rows += row.cv <= protocol.cv;
    }
    if (!steady) unsteady_[job.visit].push_back(*job.configuration);
    course_.show("measuring");
  }

  /// The times of what is inside kernels, where the design asks for them.
  void add_parts(const InFlight& job, const JobResult& result, std::vector<Measurement>& rows) const {
    if (!course_.design.inside || !course_.worker.here) return;
    const MachineLock lock = course_.locked();
    std::vector<Measurement> parts = inside_rows(source_of(job, result.machine), course_.context);
    rows.insert(rows.end(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
  }

  /// What is said before the reason of a second look's failure.
  static std::string seen_before(const InFlight& job) {
    return job.first ? kNotBelieved + job.doubt + "; measured again: " : "";
  }

  void note(const std::string& text) {
    std::vector<std::string>& notes = course_.report.notes;
    if (std::ranges::find(notes, text) == notes.end()) notes.push_back(text);
  }

  RowSource source_of(const InFlight& job, const std::string& machine) const {
    const ReferenceTimes times = speeds_.of(machine);
    RowSource source;
    source.subject = job.program->subject;
    source.built = job.program->built.get();
    source.configuration = job.configuration;
    source.context = &course_.context;
    source.campaign = course_.options.name;
    source.visit = visit_suffix(job.visit);
    source.reference_us = times.last_us();
    source.begun_s = job.begun_s;
    if (speeds_.has_drifted(times)) {
      char text[120];
      std::snprintf(text, sizeof text,
                    "the machine's speed drifted: the reference kernel took %.1f us, usually %.1f us",
                    times.last_us(), times.usual_us());
      source.unreliable = text;
    }
    if (const std::string doubt = speeds_.doubt(machine); !doubt.empty())
      source.unreliable = "the reference kernel's time on this machine is not believed: " + doubt;
    return source;
  }

  Course& course_;
  const MachineSpeeds& speeds_;
  const KnownMachines& machines_;
  Unsteady unsteady_;
  int drifted_ = 0;
};

/// This machine with its peak rates, which predictors start from; of others the worker tells what it knows.
std::optional<DeviceSheet> sheet_of_machine(Course& course) {
  if (!course.worker.here) return std::nullopt;
  if (course.options.sheet) return course.options.sheet;
  KernelCache& cache = course.context.cache ? *course.context.cache : KernelCache::shared();
  std::string why;
  const int threads = *std::ranges::max_element(course.design.threads);
  std::optional<DeviceSheet> sheet =
      measured_sheet(course.context.host(), threads, cache, why, course.options.system);
  if (!sheet)
    course.report.notes.push_back("rows have no peak rates of the machine, which could not be measured: " +
                                  why);
  return sheet;
}

/// Builds programs and has their jobs measured.
class Measuring {
 public:
  Measuring(Course& course, const std::vector<Subject>& subjects)
      : course_(course),
        subjects_(subjects),
        expected_(course.context),
        speeds_(course.store, course.worker, course.context,
                {course.options.name, course.options.reference_s, course.options.drift}),
        rows_(course, speeds_, machines_),
        sheet_(sheet_of_machine(course)) {}

  ResultRows& rows() { return rows_; }

  /// Some programs at a time: they are built, then measured, since compiling beside a measurement would
  /// disturb it. Ends when the time is over, and the report says so.
  void visit(const std::vector<Configuration>& list, int visit) {
    for (size_t next = 0; next < list.size();) {
      if (course_.late()) {
        course_.report.partial = "time";
        return;
      }
      std::vector<Program> programs;
      for (; next < list.size(); ++next) {
        const Configuration& each = list[next];
        const Subject& subject = subjects_[each.subject];
        if (programs.empty() || programs.back().subject != &subject ||
            programs.back().backend != each.backend) {
          if (static_cast<int>(programs.size()) == course_.options.batch) break;
          programs.emplace_back(subject, each.backend);
        }
        programs.back().configurations.push_back(&each);
      }
      measure_programs(programs, visit);
    }
  }

 private:
  void measure_programs(std::vector<Program>& programs, int visit) {
    const int64_t building = monotonic_ns();
    course_.show("building");
    build_programs(programs, course_.context);
    course_.report.build_s += seconds_since(building);
    course_.wait_for_quiet();
    const int64_t measuring = monotonic_ns();
    std::vector<InFlight> jobs;
    for (Program& program : programs) {
      add(program);
      for (const Configuration* each : program.configurations) {
        if (program.built)
          jobs.push_back({each, &program, job_of(program, *each), visit, 0, 0});
        else
          rows_.fail({each, &program, {}, visit, 0, now_s()}, program.error);
      }
    }
    Choice choose(course_.design.seed + static_cast<uint64_t>(course_.report.measured), "order");
    shuffle(jobs, choose);
    const auto end = [&] {
      course_.report.measure_s += seconds_since(measuring);
      for (const Program& program : programs)
        if (!program.bundle.empty()) course_.worker.remove(program.bundle);
    };
    try {
      measure(jobs);
    } catch (...) {
      end();
      throw;
    }
    end();
  }

  void add(Program& program) {
    if (!program.built) return;
    try {
      program.bundle = course_.worker.add(program.name(), program.built, expected_.of(program));
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      program.built.reset();
      program.error = error.what();
    }
  }

  Job job_of(const Program& program, const Configuration& configuration) const {
    Job job;
    job.id = configuration.key;
    job.bundle = program.bundle;
    job.threads = configuration.threads;
    job.protocol = course_.design.protocol;
    job.protocol.caches = course_.design.caches;
    job.protocol.nodes = true;
    job.protocol.alone = program.subject->kind != Subject::Kind::kModel;
    return job;
  }

  /// As many at a time as the worker has places; the rows of each are committed as soon as they are there.
  void measure(std::vector<InFlight>& jobs) {
    const CampaignWorker& worker = course_.worker;
    std::map<std::string, InFlight> waiting;
    size_t next = 0;
    int64_t heard = monotonic_ns();
    while (next < jobs.size() || !waiting.empty()) {
      stop_if_asked(course_.context.interrupt);
      if (course_.late() && waiting.empty()) {
        course_.report.partial = "time";
        return;
      }
      const auto places = static_cast<size_t>(std::max(1, worker.worker->places()));
      // Here before the next job: nothing else is measured meanwhile.
      if (next < jobs.size() && (!worker.here || waiting.empty())) speeds_.ask(submitted_);
      while (next < jobs.size() && !course_.late() && waiting.size() + speeds_.asked() < places) {
        submit(jobs[next++], waiting);
        heard = monotonic_ns();
      }
      if (waiting.empty() && speeds_.asked() == 0) return;
      course_.show("measuring");
      std::optional<JobResult> result = worker.worker->next(kAskS);
      if (!result) {
        if (seconds_since(heard) > course_.design.protocol.time_limit_s + kNoAnswerS)
          throw Error("no worker has answered for " + std::to_string(static_cast<int>(seconds_since(heard))) +
                      " s: what was measured is in the store, and the same command goes on from there");
        continue;
      }
      machines_.add(worker.worker->machine_list());  // some came since the job was submitted
      if (sheet_) result->device = *sheet_;
      heard = monotonic_ns();
      if (speeds_.is_asked(*result)) {
        take_reference(*result);
        continue;
      }
      const auto at = waiting.find(result->id);
      if (at == waiting.end()) continue;
      InFlight job = at->second;
      waiting.erase(at);
      if (result->retry && job.retries++ < kMostRetries) {
        submit(std::move(job), waiting);
      } else if (!rows_.finish(job, *result)) {
        job.job.machine = another_machine(result->machine);
        submit(std::move(job), waiting);
      }
    }
  }

  void submit(InFlight job, std::map<std::string, InFlight>& waiting) {
    if (job.begun_s == 0) job.begun_s = now_s();
    job.begun_ns = monotonic_ns();
    course_.worker.worker->submit(job.job);
    ++submitted_;
    const std::string id = job.job.id;
    waiting.emplace(id, std::move(job));
  }

  /// One for a second look, that runs the same code; empty: there is none beside this one.
  std::string another_machine(const std::string& machine) const {
    const std::vector<WorkerMachine> all = course_.worker.worker->machine_list();
    const auto first = std::ranges::find(all, machine, &WorkerMachine::name);
    for (const WorkerMachine& each : all)
      if (first != all.end() && each.name != machine && each.sheet.code_target == first->sheet.code_target &&
          each.plugins == first->plugins)
        return each.name;
    return "";
  }

  void take_reference(const JobResult& result) {
    const MachineSpeeds::Taken taken = speeds_.take(result);
    CampaignReport& report = course_.report;
    report.rows += taken.rows;
    if (taken.times) {
      report.reference_us = taken.times->usual_us();
      report.drift = std::max(report.drift, taken.times->drift());
    }
    if (!taken.note.empty() && std::ranges::find(report.notes, taken.note) == report.notes.end())
      report.notes.push_back(taken.note);
  }

  Course& course_;
  const std::vector<Subject>& subjects_;
  ExpectedOutputs expected_;
  MachineSpeeds speeds_;
  KnownMachines machines_;
  ResultRows rows_;
  const std::optional<DeviceSheet> sheet_;
  int64_t submitted_ = 0;  ///< jobs
};

/// Those that were disturbed or whose samples varied too much are measured once more at the end, when the
/// machine may be quieter; also those of earlier sessions.
void measure_all(Course& course, const std::vector<Subject>& subjects, Remaining remaining) {
  if (course.worker.here) course.locked();
  CampaignReport& report = course.report;
  Measuring measuring(course, subjects);
  Unsteady& unsteady = measuring.rows().unsteady();
  unsteady = std::move(remaining.unsteady);
  measuring.visit(remaining.configurations, 1);
  for (int visit = 2; visit <= course.design.visits && report.partial.empty(); ++visit) {
    std::vector<Configuration> again = std::exchange(unsteady[visit - 1], {});
    std::ranges::stable_sort(again, {}, &Configuration::subject);
    course.stage = {" again", monotonic_ns(), 0, 0, static_cast<int>(again.size())};
    measuring.visit(again, visit);
  }
  if (measuring.rows().drifted() > 0)
    report.notes.push_back(std::to_string(measuring.rows().drifted()) +
                           " configurations are marked: the reference kernel took up to " +
                           std::to_string(static_cast<int>(report.drift * 100 + 0.5)) +
                           " % more or less than usual");
}

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
  if (options.progress) options.progress({"reading the design", 0, 0, 0, std::nullopt});
  return run_campaign(store, design, plan_campaign(design, options.context), worker, options);
}

CampaignReport run_campaign(Store& store, const Design& design, CampaignPlan plan,
                            const CampaignWorker& worker, const CampaignOptions& options) {
  Course course{store, design, worker, options, options.context.at_level(design.opt_level)};
  CampaignReport& report = course.report;
  report.name = options.name;
  report.configurations = static_cast<int>(plan.configurations.size());
  Remaining remaining =
      remaining_of(store, options.name, design, std::move(plan.configurations), options.retry_failed);
  report.finished_before = remaining.finished;
  report.retried = remaining.retried;
  course.stage = {"", course.begin, report.finished_before, 0, report.configurations};
  try {
    if (!remaining.configurations.empty() || !remaining.unsteady.empty())
      measure_all(course, plan.subjects, std::move(remaining));
  } catch (const Interrupted&) {
    report.partial = "interrupted";
  }
  report.seconds = seconds_since(course.begin);
  return std::move(report);
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

Json campaign_json(const CampaignReport& report) {
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
              {"failures", failures}};
}

Json campaign_json(const CampaignStatus& status) {
  return Json{{"schema", 1},
              {"campaign", status.name},
              {"rows", status.rows},
              {"configurations", status.configurations},
              {"failed", status.failed},
              {"references", status.references},
              {"rows_of", status.rows_of}};
}

}  // namespace baton
