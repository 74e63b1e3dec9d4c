#include "baton/predict/model/kernel_times.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "baton/codegen/kernel/kernel.h"
#include "baton/driver/plan/region_attrs.h"
#include "baton/predict/device_match.h"
#include "baton/profile/record/work.h"

namespace baton {

namespace {

using PredictClock = std::chrono::steady_clock;

double passed_s(PredictClock::time_point since) {
  return std::chrono::duration<double>(PredictClock::now() - since).count();
}

/// 95 % of a normal distribution: a measurement's uncertainty as spread and interval.
constexpr double kSure = 1.96;
constexpr double kMostUnknown = 0.1;  // of a model's time, in kinds of kernels that training had too few of

class Predicting {
 public:
  Predicting(const BuildResult& built, const PredictOptions& options, int threads)
      : built_(built), options_(options), predictor_(predictor_of(options)), threads_(threads) {}

  PredictedKernels run() {
    auto start = PredictClock::now();
    check_precision();
    made_.schedules = schedules_of(built_, options_.context);
    made_.schedules_s = passed_s(start);
    start = PredictClock::now();
    describe_kernels();
    predict_kernels();
    made_.predict_s = passed_s(start);
    take_measured();
    check_kinds();
    return std::move(made_);
  }

 private:
  const PlannedKernel& planned(size_t i) const { return built_.plan.kernels[i]; }

  std::shared_ptr<const DeviceSheet> sheet_of(const std::string& backend) {
    auto& sheet = made_.sheets[backend];
    if (sheet) return sheet;
    const DeviceSheet* asked = options_.context.sheet_of(backend);
    if (!asked) asked = &options_.context.host();
    if (!options_.predictor) return sheet = std::make_shared<const DeviceSheet>(*asked);
    const auto trained = options_.device.sheets.find(backend);
    if (trained == options_.device.sheets.end())
      throw NotPredicted("the predictor has no kernels of backend " + backend + " (it has " + backends() +
                         "): train one with measurements of it");
    if (trained->second.kind != asked->kind)
      throw NotPredicted("the predictor is for devices of kind " + trained->second.kind + ", not " +
                         asked->kind + ": carry it over with `baton train --from`");
    if (asked->device_type != 1 && options_.device.is_here)
      if (const std::string why = why_other_device(trained->second, *asked); !why.empty())
        throw NotPredicted("the predictor was trained on another device of kind " + asked->kind + ", " +
                           device_title(trained->second) + ": " + why +
                           "; --for-device predicts for the machine that it was trained on");
    // Its own, which has measured peaks, unless the target asks for other code.
    const bool is_same = trained->second.code_hash() == asked->code_hash();
    if (!is_same) {
      made_.other_code = "the code is that of the target, " + asked->code_target + ", and " +
                         options_.device.title + " was measured with " + trained->second.code_target;
      if (!std::ranges::count(made_.notes, made_.other_code)) made_.notes.push_back(made_.other_code);
    }
    return sheet = std::make_shared<const DeviceSheet>(is_same ? trained->second : *asked);
  }

  std::string backends() const {
    std::string text;
    for (const auto& [backend, sheet] : options_.device.sheets) text += (text.empty() ? "" : ", ") + backend;
    return text;
  }

  void describe_kernels() {
    made_.kernels.resize(built_.plan.kernels.size());
    for (size_t i = 0; i < made_.kernels.size(); ++i) {
      if (!planned(i).called) continue;
      KernelTime& known = made_.kernels[i];
      known.called = true;
      known.kernel.kernel = describe(*planned(i).function);
      known.kernel.backend = made_.schedules[i].backend;
      if (const BackendRef backend = find_backend(known.kernel.backend); backend && backend->known_us) {
        known.exact = true;
        known.time = {};
        known.time.us = known.time.low_us = known.time.high_us = backend->known_us(*planned(i).function);
        continue;
      }
      known.kernel.sheet = sheet_of(known.kernel.backend);
      known.kernel.threads = threads_;
      if (!knows_schedules(known.kernel.backend)) continue;
      known.kernel.template_name = made_.schedules[i].schedule.template_name;
      for (const auto& [name, value] : made_.schedules[i].schedule.params)
        known.kernel.parameters.emplace(name, value);
    }
    std::vector<double> calls(made_.kernels.size());
    for (const PlannedNode& node : built_.plan.nodes)
      if (node.kernel >= 0) calls[static_cast<size_t>(node.kernel)] += 1;
    CalledKernels all;
    for (size_t i = 0; i < made_.kernels.size(); ++i)
      if (made_.kernels[i].called) all.emplace_back(&made_.kernels[i].kernel.kernel, calls[i]);
    const ModelTraffic model = traffic_of(all);
    for (KernelTime& known : made_.kernels) known.kernel.model = model;
  }

  void predict_kernels() {
    if (!options_.predictor) {
      for (KernelTime& known : made_.kernels)
        if (known.called && !known.exact) known.time.us = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    std::vector<const KernelCase*> cases;
    for (const KernelTime& known : made_.kernels)
      if (known.called && !known.exact) cases.push_back(&known.kernel);
    std::vector<TimePrediction> times = predictor_.predict(cases, options_.level);
    size_t next = 0;
    for (KernelTime& known : made_.kernels)
      if (known.called && !known.exact) known.time = std::move(times[next++]);
  }

  void take_measured() {
    if (!options_.store) return;
    for (size_t i = 0; i < made_.kernels.size(); ++i) {
      KernelTime& known = made_.kernels[i];
      if (!known.called || known.exact) continue;
      if (const auto found = measured(i)) {
        known.measured = true;
        known.time = {};
        known.time.us = found->median_us;
        const double half = found->plus_minus_us.value_or(kSure * found->cv * found->median_us);
        known.time.doubts.spread = half / kSure / found->median_us;
        known.time.low_us = std::max(0.0, found->median_us - half);
        known.time.high_us = found->median_us + half;
      }
    }
  }

  /// Kernels of another precision are other code, which no feature tells.
  void check_precision() {
    const std::vector<std::string>& known = predictor_.card.precisions;
    const std::string asked = built_.precision.empty() ? "f32" : built_.precision;
    if (!options_.predictor || std::ranges::count(known, asked)) return;
    std::string text;
    for (const std::string& each : known) text += (text.empty() ? "" : ", ") + each;
    made_.other_code =
        "the build has the precision " + asked + ", and the predictor was trained with " + text;
    made_.notes.push_back(made_.other_code);
  }

  /// A model whose time is that of kernels whose kind training had too few of is not predicted at all.
  void check_kinds() const {
    double all = 0, unknown = 0;
    std::map<std::string, double> by_kind;
    for (const PlannedNode& node : built_.plan.nodes) {
      if (node.kernel < 0) continue;
      const KernelTime& known = made_.kernels[static_cast<size_t>(node.kernel)];
      if (!(known.time.us > 0)) continue;
      all += known.time.us;
      if (known.measured || known.time.too_few.empty()) continue;
      unknown += known.time.us;
      by_kind[known.time.too_few] += known.time.us;
    }
    if (unknown <= kMostUnknown * all) return;
    std::string kinds;
    for (const auto& [kind, us] : by_kind) kinds += (kinds.empty() ? "" : ", ") + kind;
    char part[16];
    std::snprintf(part, sizeof part, "%.0f %%", 100 * unknown / all);
    throw NotPredicted(
        options_.predictor_name + " was trained with too few " + kinds + " to predict this model (" + part +
        " of its time by their rooflines; each kind needs " + std::to_string(kLeastOfTrainedKind) +
        " kernels): measure models that have them (`baton profile --store`), and train again");
  }

  std::optional<Measurement> measured(size_t i) const {
    const KernelCase& kernel = made_.kernels[i].kernel;
    const Work work = kernel_work(without_region(planned(i).function));
    if (!knows_schedules(kernel.backend)) {  // which implementation it is, only the library knows
      StoreQuery query;
      query.work_id = work.id();
      query.backend = kernel.backend;
      query.threads = threads_;
      query.reliable_only = true;
      std::optional<Measurement> last;
      options_.store->each(query, [&](const Measurement& each) {
        if (sheet_identity(each.device) == sheet_identity(*kernel.sheet) &&
            may_be_same_processor(each.device, *kernel.sheet) && each.method.empty() &&
            each.cache != CacheState::kFlushed)
          last = each;
        return true;
      });
      return last;
    }
    Kernel facts;
    facts.template_name = made_.schedules[i].schedule.template_name;
    facts.params = made_.schedules[i].schedule.params;
    const BuiltKernel made{
        planned(i).func_name, planned(i).function, {}, std::make_shared<const Kernel>(facts), 0,
        kernel.backend};
    const BuildFacts build = build_facts(made, built_, options_.context.passes->opt_level);
    for (const CacheState cache : {CacheState::kInModel, CacheState::kHot})
      if (auto found = options_.store->newest(work, build, *kernel.sheet, threads_, cache)) return found;
    return std::nullopt;
  }

  const BuildResult& built_;
  const PredictOptions& options_;
  const Predictor& predictor_;
  const int threads_;
  PredictedKernels made_;
};

}  // namespace

const Predictor& predictor_of(const PredictOptions& options) {
  static const Predictor none;
  return options.predictor ? *options.predictor : none;
}

PredictedKernels predict_kernels(const BuildResult& built, const PredictOptions& options, int threads) {
  return Predicting(built, options, threads).run();
}

}  // namespace baton
