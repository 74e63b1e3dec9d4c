#include "baton/predict/model/predict_model.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>

#include "baton/codegen/kernel/kernel.h"
#include "baton/driver/plan/region_attrs.h"
#include "baton/predict/device_match.h"
#include "baton/predict/model/part_shares.h"
#include "baton/profile/record/work.h"
#include "baton/profile/report/peaks.h"
#include "baton/profile/report/report.h"
#include "baton/support/error.h"

namespace baton {

namespace {

using PredictClock = std::chrono::steady_clock;

double passed_s(PredictClock::time_point since) {
  return std::chrono::duration<double>(PredictClock::now() - since).count();
}

/// 95 % of a normal distribution: a measurement's uncertainty as spread and interval.
constexpr double kSure = 1.96;
constexpr double kMostUnknown = 0.1;  // of a model's time, in kinds of kernels that training had too few of
const std::string kHost = "cpu";      // the host's memory, in sheets and reports

class Predicting {
 public:
  Predicting(const BuildResult& built, const PredictOptions& options)
      : built_(built),
        options_(options),
        predictor_(options.predictor ? *options.predictor : nothing_learnt()) {
    threads_ = options.threads > 0               ? options.threads
               : predictor_.card.threads.empty() ? 1
                                                 : predictor_.card.threads.back();
  }

  PredictedReport run() {
    auto start = PredictClock::now();
    check_precision();
    schedules_ = schedules_of(built_, options_.context);
    PredictedReport made;
    made.schedules_s = passed_s(start);
    start = PredictClock::now();
    describe_kernels();
    predict_kernels();
    made.predict_s = passed_s(start);
    take_measured();
    check_kinds();
    ProfileReport& report = made.report = empty_report();
    fill(report);
    start = PredictClock::now();
    predict_whole(report);
    add_insides(report);
    made.predict_s += passed_s(start);
    describe_report(report, made);
    return made;
  }

 private:
  static const Predictor& nothing_learnt() {
    static const Predictor none;
    return none;
  }

  struct Known {
    KernelCase kernel;
    TimePrediction time;
    bool called = false, measured = false;
    bool exact = false;  ///< a simulated device's own time: nothing to predict
  };

  const PlannedKernel& planned(size_t i) const { return built_.plan.kernels[i]; }

  std::shared_ptr<const DeviceSheet> sheet_of(const std::string& backend) {
    auto& sheet = sheets_[backend];
    if (sheet) return sheet;
    const DeviceSheet* asked = options_.context.sheet_of(backend);
    if (!asked) asked = &options_.context.host();
    if (!options_.predictor) return sheet = std::make_shared<const DeviceSheet>(*asked);
    const auto trained = options_.device.sheets.find(backend);
    if (trained == options_.device.sheets.end())
      throw Error("the predictor has no kernels of backend " + backend + " (it has " + backends() +
                  "): train one with measurements of it");
    if (trained->second.kind != asked->kind)
      throw Error("the predictor is for devices of kind " + trained->second.kind + ", not " + asked->kind +
                  ": carry it over with `baton train --from`");
    if (asked->device_type != 1 && options_.device.is_here)
      if (const std::string why = why_other_device(trained->second, *asked); !why.empty())
        throw Error("the predictor was trained on another device of kind " + asked->kind + ", " +
                    device_title(trained->second) + ": " + why +
                    "; --for-device predicts for the machine that it was trained on");
    // Its own, which has measured peaks, unless the target asks for other code.
    const bool is_same = trained->second.code_hash() == asked->code_hash();
    if (!is_same) {
      other_code_ = "the code is that of the target, " + asked->code_target + ", and " +
                    options_.device.title + " was measured with " + trained->second.code_target;
      if (!std::ranges::count(notes_, other_code_)) notes_.push_back(other_code_);
    }
    return sheet = std::make_shared<const DeviceSheet>(is_same ? trained->second : *asked);
  }

  std::string backends() const {
    std::string text;
    for (const auto& [backend, sheet] : options_.device.sheets) text += (text.empty() ? "" : ", ") + backend;
    return text;
  }

  void describe_kernels() {
    known_.resize(built_.plan.kernels.size());
    for (size_t i = 0; i < known_.size(); ++i) {
      if (!planned(i).called) continue;
      Known& known = known_[i];
      known.called = true;
      known.kernel.kernel = describe(*planned(i).function);
      known.kernel.backend = schedules_[i].backend;
      if (const BackendRef backend = find_backend(known.kernel.backend); backend && backend->known_us) {
        known.exact = true;
        known.time = {};
        known.time.us = known.time.low_us = known.time.high_us = backend->known_us(*planned(i).function);
        continue;
      }
      known.kernel.sheet = sheet_of(known.kernel.backend);
      known.kernel.threads = threads_;
      if (!knows_schedules(known.kernel.backend)) continue;
      known.kernel.template_name = schedules_[i].schedule.template_name;
      for (const auto& [name, value] : schedules_[i].schedule.params)
        known.kernel.parameters.emplace(name, value);
    }
    std::vector<double> calls(known_.size());
    for (const PlannedNode& node : built_.plan.nodes)
      if (node.kernel >= 0) calls[static_cast<size_t>(node.kernel)] += 1;
    CalledKernels all;
    for (size_t i = 0; i < known_.size(); ++i)
      if (known_[i].called) all.emplace_back(&known_[i].kernel.kernel, calls[i]);
    const ModelTraffic model = traffic_of(all);
    for (Known& known : known_) known.kernel.model = model;
  }

  void predict_kernels() {
    if (!options_.predictor) {
      for (Known& known : known_)
        if (known.called && !known.exact) known.time.us = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    std::vector<const KernelCase*> cases;
    for (const Known& known : known_)
      if (known.called && !known.exact) cases.push_back(&known.kernel);
    std::vector<TimePrediction> times = predictor_.predict(cases, options_.level);
    size_t next = 0;
    for (Known& known : known_)
      if (known.called && !known.exact) known.time = std::move(times[next++]);
  }

  void take_measured() {
    if (!options_.store) return;
    for (size_t i = 0; i < known_.size(); ++i) {
      Known& known = known_[i];
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
    other_code_ = "the build has the precision " + asked + ", and the predictor was trained with " + text;
    notes_.push_back(other_code_);
  }

  /// A model whose time is that of kernels whose kind training had too few of is not predicted at all.
  void check_kinds() const {
    double all = 0, unknown = 0;
    std::map<std::string, double> by_kind;
    for (const PlannedNode& node : built_.plan.nodes) {
      if (node.kernel < 0) continue;
      const Known& known = known_[static_cast<size_t>(node.kernel)];
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
    throw Error(options_.predictor_name + " was trained with too few " + kinds + " to predict this model (" +
                part + " of its time by their rooflines; each kind needs " +
                std::to_string(kLeastOfTrainedKind) +
                " kernels): measure models that have them (`baton profile --store`), and train again");
  }

  std::optional<Measurement> measured(size_t i) const {
    const KernelCase& kernel = known_[i].kernel;
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
    facts.template_name = schedules_[i].schedule.template_name;
    facts.params = schedules_[i].schedule.params;
    const BuiltKernel made{
        planned(i).func_name, planned(i).function, {}, std::make_shared<const Kernel>(facts), 0,
        kernel.backend};
    const BuildFacts build = build_facts(made, built_, options_.context.passes->opt_level);
    for (const CacheState cache : {CacheState::kInModel, CacheState::kHot})
      if (auto found = options_.store->newest(work, build, *kernel.sheet, threads_, cache)) return found;
    return std::nullopt;
  }

  /// With all that is not a time.
  ProfileReport empty_report() const {
    ReportSource source{
        built_.origins.value_or(OriginReport()), {}, targets_text(built_.targets), built_.precision};
    for (size_t i = 0; i < known_.size(); ++i)
      if (known_[i].called)
        source.kernels[planned(i).func_name] = {
            function_row(planned(i).function, schedules_[i].schedule.template_name,
                         schedules_[i].schedule.params),
            {known_[i].kernel.kernel.flops, known_[i].kernel.kernel.bytes}};
    FusedTimes none;
    const Plan& plan = *built_.plan.graph;
    for (uint32_t node = 0; node < plan.nodes.size(); ++node) {
      const PlanNode::Kind kind = plan.nodes[node].kind;
      if (kind != PlanNode::Kind::kKernel && kind != PlanNode::Kind::kCopy) continue;
      none.nodes.push_back(node);
      none.node_us.emplace_back();
    }
    return make_report(source, plan, none);
  }

  void fill(ProfileReport& report) {
    for (KernelRow& row : report.kernels) {
      const int kernel = built_.plan.nodes[row.node].kernel;
      TimePrediction copy;
      const TimePrediction* time = &copy;
      bool is_measured = false;
      if (!row.copied_from.empty() || kernel < 0) {
        const PlanEntry& entry = built_.plan.graph->entries[built_.plan.graph->nodes[row.node].first_entry];
        copy = copy_time(row, static_cast<double>(entry.bytes()));
        transfers_us_ += copy.us;
      } else {
        const Known& known = known_[static_cast<size_t>(kernel)];
        time = &known.time;
        is_measured = known.measured;
        // All calls of a kernel are off by the same: they are one entry.
        const auto [at, is_new] = place_in_model_.try_emplace(kernel, in_model_.size());
        if (is_new)
          in_model_.push_back({known.time, 1});
        else
          in_model_[at->second].calls += 1;
        row.target = known.kernel.backend == "llvm" ? report.target : known.kernel.backend;
      }
      row.median_us = time->us;
      row.low_us = time->low_us;
      row.high_us = time->high_us;
      // No interval holds for a guess.
      if (time->out_of_range.empty()) row.plus_minus_us = (time->high_us - time->low_us) / 2;
      row.samples_us = {time->us};
      row.basis = is_measured ? "measured" : "predicted";
      row.out_of_range = time->out_of_range;
      row.under_load.clear();
      if (row.median_us > 0) {
        row.roofline.gflops = row.flops / row.median_us / 1e3;
        row.roofline.gbytes_per_s = row.bytes / row.median_us / 1e3;
      }
      report.sum_us += row.median_us;
    }
    for (KernelRow& row : report.kernels) row.share = report.sum_us > 0 ? row.median_us / report.sum_us : 0;
  }

  /// Between two devices by way of the host, unless such copies were measured.
  TimePrediction copy_time(const KernelRow& row, double bytes) const {
    const std::string &from = row.copied_from, &to = row.device;
    const auto step = [&](const std::string& a, const std::string& b) {
      const DeviceSheet* sheet = options_.context.sheet_of(b == kHost ? a : b);
      return predictor_.predict_transfer(a, b, bytes, sheet ? *sheet : options_.context.host(),
                                         options_.level);
    };
    if (from.empty() || from == kHost || to == kHost || predictor_.transfers.count(from + " " + to))
      return step(from, to);
    TimePrediction both = step(from, kHost);
    const TimePrediction second = step(kHost, to);
    both.us += second.us, both.low_us += second.low_us, both.high_us += second.high_us;
    if (both.out_of_range.empty()) both.out_of_range = second.out_of_range;
    return both;
  }

  void predict_whole(ProfileReport& report) {
    if (!options_.predictor || (in_model_.empty() && transfers_us_ == 0)) return;  // constants only
    const std::string backend = built_.targets.empty() ? "llvm" : built_.targets.front()->kind;
    const TimePrediction whole = predictor_.predict_model(backend, in_model_, transfers_us_, options_.level);
    report.end_to_end_us = whole.us;
    report.end_to_end_low_us = whole.low_us;
    report.end_to_end_high_us = whole.high_us;
    report.plain_us = report.profiled_us = {whole.us};
    report.out_of_range = other_code_.empty() ? whole.out_of_range : other_code_;
    if (report.out_of_range.empty()) report.end_to_end_plus_minus_us = (whole.high_us - whole.low_us) / 2;
    report.level = options_.level;
  }

  void add_insides(ProfileReport& report) {
    const OriginTable& table = built_.optimized->origins();
    for (KernelRow& row : report.kernels) {
      const Function& function = built_.plan.nodes[row.node].function;
      const int index = built_.plan.nodes[row.node].kernel;
      if (!function || index < 0) continue;
      const KernelCase& kernel = known_[static_cast<size_t>(index)].kernel;
      if (known_[static_cast<size_t>(index)].exact || !options_.predictor) continue;
      const std::vector<KernelBlock> blocks = kernel_blocks(*function);
      if (blocks.size() < 2) continue;
      const std::vector<double> shares = part_shares(kernel, blocks);
      for (size_t i = 0; i < blocks.size(); ++i) {
        InsideRow part;
        for (const Origin* origin : blocks[i].call->origins().origins())
          if (const auto id = table.find(origin)) part.ids.push_back(index_of(*id));
        std::ranges::sort(part.ids);
        part.label = blocks[i].call->op()->name;
        part.share = shares[i];
        part.us = shares[i] * row.median_us;
        part.method = InsideMethod::kPredicted;
        for (const uint32_t id : part.ids) {
          auto& us = report.operators.at(id).inside_us;
          us = us.value_or(0) + part.us / static_cast<double>(part.ids.size());
        }
        row.inside.push_back(std::move(part));
      }
    }
  }

  std::vector<double> part_shares(const KernelCase& kernel, const std::vector<KernelBlock>& blocks) {
    if (!predictor_.parts.count(kernel.backend)) {
      parts_by_roofline_ = true;
      return roofline_shares(kernel, blocks);
    }
    std::vector<KernelCase> parts;
    std::vector<const KernelCase*> pointers;
    for (const KernelBlock& block : blocks) {
      parts.push_back(kernel);
      parts.back().kernel = describe(*block.call);
    }
    for (const KernelCase& part : parts) pointers.push_back(&part);
    return predictor_.shares(pointers);
  }

  static uint32_t index_of(OriginId id) { return static_cast<uint32_t>(id); }

  void describe_report(ProfileReport& report, const PredictedReport& made) const {
    const ModelCard& card = predictor_.card;
    report.predicted = options_.predictor_name + ", of " + card.date + " with " +
                       std::to_string(card.kernels) + " kernels of " + std::to_string(card.models) +
                       " models";
    report.threads = threads_;
    if (options_.predictor)
      report.machine = options_.device.title;
    else if (!sheets_.empty())
      report.machine = sheets_.begin()->second->name;
    report.other_machine = options_.predictor && !options_.device.is_here;
    const auto host = sheets_.find("llvm");
    if (host != sheets_.end() && host->second->peaks) add_peaks(report, *host->second);
    size_t measured = 0, guesses = 0;
    for (const KernelRow& row : report.kernels) {
      measured += row.basis == "measured";
      guesses += !row.out_of_range.empty();
    }
    char text[200];
    std::snprintf(
        text, sizeof text,
        "predicted, not run: %zu of %zu kernels measured before, %zu out of the predictor's range; schedules "
        "chosen in %.0f ms, predicted in %.1f ms",
        measured, report.kernels.size(), guesses, 1e3 * made.schedules_s, 1e3 * made.predict_s);
    report.notes.insert(report.notes.begin(), text);
    if (report.other_machine)
      report.notes.insert(report.notes.begin(),
                          "all times are those of " + report.machine + ", not of this machine");
    if (parts_by_roofline_)
      report.notes.push_back(
          "inside kernels, operators have portions in proportion to their rooflines: the predictor was "
          "trained "
          "without measured parts");
    report.notes.insert(report.notes.end(), notes_.begin(), notes_.end());
  }

  const BuildResult& built_;
  const PredictOptions& options_;
  const Predictor& predictor_;
  int threads_ = 1;
  std::vector<PlannedSchedule> schedules_;
  std::vector<Known> known_;  ///< by kernel of the plan
  std::vector<ModelKernel> in_model_;
  std::map<int, size_t> place_in_model_;                              ///< by kernel of the plan
  std::map<std::string, std::shared_ptr<const DeviceSheet>> sheets_;  ///< by backend
  std::vector<std::string> notes_;
  double transfers_us_ = 0;
  std::string other_code_;  ///< than that of the device in training; empty: it is the same
  bool parts_by_roofline_ = false;
};

}  // namespace

PredictedReport predict(const BuildResult& built, const PredictOptions& options) {
  return Predicting(built, options).run();
}

}  // namespace baton
