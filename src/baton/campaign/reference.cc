#include "baton/campaign/reference.h"

#include <algorithm>
#include <cmath>

#include "baton/campaign/rows.h"
#include "baton/driver/build.h"
#include "baton/profile/conditions/estimate.h"
#include "baton/profile/record/work.h"
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

}  // namespace

Subject reference_subject() {
  const IRModule module = infer_types(parse_module(kProgram, kName));
  Subject subject{Subject::Kind::kPattern, kName, "", module, model_work(module)};
  subject.work.kind = WorkKind::kReference;
  subject.work.brief = kName;
  return subject;
}

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

Reference::Reference(const CampaignWorker& worker, const BuildContext& context)
    : worker_(worker), context_(context.at_level(kLevel)), subject_(reference_subject()) {
  context_.targets.clear();
  BuildOptions options;
  options.params = weights_of(subject_);
  options.context = context_;
  program_ = std::make_shared<const BuildResult>(build(subject_.module, options));
  bundle_ = worker_.add(kName, program_, {});
}

double reference_us_of(const Measurement& row) {
  std::vector<double> kept = samples_without(row.samples_us, row.disturbed);
  if (kept.empty()) return row.median_us;
  const auto at = kept.begin() + static_cast<std::ptrdiff_t>(kQuantile * static_cast<double>(kept.size()));
  std::ranges::nth_element(kept, at);
  return *at;
}

Reference::~Reference() { worker_.remove(bundle_); }

Job Reference::job(const std::string& machine) const {
  Job job;
  job.id = kName;
  if (!machine.empty()) job.id += "@" + machine;
  job.machine = machine;
  job.bundle = bundle_;
  job.protocol.max_seconds = 0.5;
  return job;
}

}  // namespace baton
