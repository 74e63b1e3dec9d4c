#include "baton/campaign/reference.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "baton/campaign/result_checks.h"
#include "baton/campaign/rows.h"
#include "baton/clock/estimate.h"
#include "baton/driver/build.h"
#include "baton/profile/record/work.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/base/statistics.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

constexpr char kName[] = "reference";
constexpr int kLevel = 2;  // whatever the campaign's: times of all campaigns can be compared
constexpr size_t kFewestTimes = 8;
constexpr double kQuantile = 0.25;  // others only ever make it take longer
constexpr char kProgram[] =
    "#[version = \"0.0.5\"]\n"
    "def @main(%data: Tensor[(64, 512), float32], %weight: Tensor[(512, 512), float32]) {\n"
    "  nn.dense(%data, %weight, units=512)\n"
    "}\n";

/// A dense layer of 64 x 512 by 512, on one thread.
Subject reference_subject() {
  const IRModule module = infer_types(parse_module(kProgram, kName));
  Subject subject{Subject::Kind::kPattern, kName, "", module, model_work(module)};
  subject.work.kind = WorkKind::kReference;
  subject.work.brief = kName;
  // Works of models have neither, and how slow a machine is against its sheet is told by them.
  const Work dense = kernel_work(module->find("main"));
  subject.work.flops = dense.flops;
  subject.work.bytes = dense.bytes;
  return subject;
}

/// What a row of it says of the machine's speed, in microseconds: the quarter of its samples that were
/// shortest were disturbed least.
double reference_us_of(const Measurement& row) {
  std::vector<double> kept = samples_without(row.samples_us, row.disturbed);
  if (kept.empty()) return row.median_us;
  const auto at = kept.begin() + static_cast<std::ptrdiff_t>(kQuantile * static_cast<double>(kept.size()));
  std::ranges::nth_element(kept, at);
  return *at;
}

BuildContext reference_context(const BuildContext& context) {
  BuildContext own = context.at_level(kLevel);
  own.targets.clear();
  return own;
}

}  // namespace

double ReferenceTimes::usual_us() const { return all_us_.empty() ? 0 : median(all_us_); }

double ReferenceTimes::usual_drift() const {
  if (all_us_.size() < kFewestTimes) return 0;
  return 3 * robust_deviation(all_us_) / usual_us();
}

void ReferenceTimes::add(double us, bool counts) {
  last_us_ = us;
  drift_ = 0;
  if (!counts) return;
  if (!all_us_.empty()) drift_ = std::abs(us / usual_us() - 1);
  all_us_.push_back(us);
}

MachineSpeeds::MachineSpeeds(Store& store, const CampaignWorker& worker, const BuildContext& context,
                             Options options)
    : store_(store),
      worker_(worker),
      options_(std::move(options)),
      context_(reference_context(context)),
      subject_(reference_subject()) {
  BuildOptions build_options;
  build_options.params = weights_of(subject_);
  build_options.context = context_;
  program_ = std::make_shared<const BuildResult>(build(subject_.module, build_options));
  bundle_ = worker_.add(kName, program_, {});
}

MachineSpeeds::~MachineSpeeds() { worker_.remove(bundle_); }

Job MachineSpeeds::job(const std::string& machine) const {
  Job job;
  job.id = kName;
  if (!machine.empty()) job.id += "@" + machine;
  job.machine = machine;
  job.bundle = bundle_;
  job.protocol.max_seconds = 0.5;
  return job;
}

void MachineSpeeds::ask(int64_t submitted) {
  for (const WorkerMachine& machine : worker_.worker->machine_list()) {
    const std::string name = worker_.here ? "" : machine.name;
    const auto [at, is_new] = asked_at_.try_emplace(name);
    Asked& last = at->second;
    if (!is_new && (seconds_since(last.at_ns) < options_.every_s || last.submitted == submitted)) continue;
    const Job job = this->job(name);
    if (!asked_.emplace(job.id, Open{job, static_cast<int64_t>(std::time(nullptr)), monotonic_ns()}).second)
      continue;
    last = {monotonic_ns(), submitted};
    worker_.worker->submit(job);
  }
}

MachineSpeeds::Taken MachineSpeeds::take(const JobResult& result) {
  const Open open = asked_.extract(result.id).mapped();
  if (result.error.empty() && !result.rows.empty()) {
    Measurement row = row_of(result, open.begun_s);
    const ResultFacts facts{&open.job, program_->plan.graph.get(), seconds_since(open.begun_ns)};
    std::string why = doubt_of(result, {&row, 1}, facts).why;
    if (why.empty()) why = why_other_device(row);
    trust_[result.machine] = {slowness_of(row), why};
    if (!why.empty()) {
      row.unreliable = "not believed: " + why;
      return {.rows = store_.insert({&row, 1}),
              .note = "the reference kernel's time on " + result.machine + " is not believed: " + why};
    }
    ReferenceTimes& times = times_of(result.machine);
    times.add(row.reference_us, row.unreliable.empty());
    return {.rows = store_.insert({&row, 1}), .times = times};
  }
  const std::string why = result.error.empty() ? "it was not measured" : result.error;
  if (worker_.here && !result.retry) throw Error("the reference kernel cannot be measured: " + why);
  if (worker_.here) asked_at_.clear();  // its runner was killed: another one measures it before the next job
  if (result.retry) return {};
  const std::string machine = result.id.substr(std::min(result.id.size(), result.id.find('@') + 1));
  return {.note = "the reference kernel could not be measured on " + machine + ": " + why};
}

Measurement MachineSpeeds::row_of(const JobResult& result, int64_t begun_s) const {
  const Configuration configuration{kName, 0, "llvm", 1};
  Subject whole = subject_;
  whole.kind = Subject::Kind::kModel;
  RowSource source;
  source.subject = &whole;
  source.built = program_.get();
  source.configuration = &configuration;
  source.context = &context_;
  source.campaign = options_.campaign;
  source.begun_s = begun_s;
  JobResult first = result;
  first.rows.resize(1);
  first.rows[0].node.clear();
  Measurement row = std::move(measurements_of_job(first, source).front());
  row.model.clear();
  row.model_id.clear();
  row.reference_us = reference_us_of(row);
  return row;
}

/// Times of earlier sessions of this campaign count, too.
ReferenceTimes& MachineSpeeds::times_of(const std::string& machine) {
  const auto [at, is_new] = times_.try_emplace(machine);
  if (!is_new) return at->second;
  StoreQuery query;
  query.kind = WorkKind::kReference;
  query.campaign = options_.campaign;
  query.machine = machine;
  query.reliable_only = true;
  for (const Measurement& row : store_.select(query)) at->second.known(row.reference_us);
  return at->second;
}

ReferenceTimes MachineSpeeds::of(const std::string& machine) const {
  const auto at = times_.find(machine);
  return at != times_.end() ? at->second : ReferenceTimes();
}

double MachineSpeeds::slowness(const std::string& machine) const {
  const auto at = trust_.find(machine);
  return at != trust_.end() ? at->second.slowness : 1;
}

std::string MachineSpeeds::doubt(const std::string& machine) const {
  const auto at = trust_.find(machine);
  return at != trust_.end() ? at->second.doubt : "";
}

bool MachineSpeeds::has_drifted(const ReferenceTimes& times) const {
  return times.drift() > std::max(options_.drift, times.usual_drift());
}

}  // namespace baton
