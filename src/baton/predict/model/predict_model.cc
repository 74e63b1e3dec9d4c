#include "baton/predict/model/predict_model.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "baton/codegen/kernel/kernel.h"
#include "baton/predict/model/kernel_times.h"
#include "baton/predict/model/part_shares.h"
#include "baton/profile/report/peaks.h"
#include "baton/profile/report/report.h"

namespace baton {

namespace {

const std::string kHost = "cpu";  // the host's memory, in sheets and reports

/// The report of a plan whose kernels take `times`.
class PredictedModel {
 public:
  PredictedModel(const BuildResult& built, const PredictOptions& options, PredictedKernels times, int threads)
      : built_(built),
        options_(options),
        predictor_(predictor_of(options)),
        times_(std::move(times)),
        threads_(threads) {}

  PredictedReport run() {
    PredictedReport made{empty_report(), times_.schedules_s, times_.predict_s};
    fill(made.report);
    const auto start = std::chrono::steady_clock::now();
    predict_whole(made.report);
    add_insides(made.report);
    made.predict_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    describe_report(made.report, made);
    return made;
  }

 private:
  /// With all that is not a time.
  ProfileReport empty_report() const {
    ReportSource source{
        built_.origins.value_or(OriginReport()), {}, targets_text(built_.targets), built_.precision};
    for (size_t i = 0; i < times_.kernels.size(); ++i)
      if (times_.kernels[i].called)
        source.kernels[built_.plan.kernels[i].func_name] = {
            function_row(built_.plan.kernels[i].function, times_.schedules[i].schedule.template_name,
                         times_.schedules[i].schedule.params),
            {times_.kernels[i].kernel.kernel.flops, times_.kernels[i].kernel.kernel.bytes}};
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
      TimePrediction time;
      bool is_measured = false;
      if (!row.copied_from.empty() || kernel < 0) {
        const PlanEntry& entry = built_.plan.graph->entries[built_.plan.graph->nodes[row.node].first_entry];
        time = copy_time(row, static_cast<double>(entry.bytes()));
        transfers_us_ += time.us;
      } else {
        const KernelTime& known = times_.kernels[static_cast<size_t>(kernel)];
        time = known.time;
        if (!known.measured && !known.exact) widen(time, false);
        is_measured = known.measured;
        // All calls of a kernel are off by the same: they are one entry.
        const auto [at, is_new] = place_in_model_.try_emplace(kernel, in_model_.size());
        if (is_new)
          in_model_.push_back({known.time, 1});
        else
          in_model_[at->second].calls += 1;
      }
      row.median_us = time.us;
      row.low_us = time.low_us;
      row.high_us = time.high_us;
      // No interval holds for a guess.
      if (time.out_of_range.empty()) row.plus_minus_us = (time.high_us - time.low_us) / 2;
      row.samples_us = {time.us};
      row.basis = is_measured ? "measured" : "predicted";
      row.out_of_range = time.out_of_range;
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
    TimePrediction whole = predictor_.predict_model(backend, in_model_, transfers_us_, options_.level);
    widen(whole, true);
    report.end_to_end_us = whole.us;
    report.end_to_end_low_us = whole.low_us;
    report.end_to_end_high_us = whole.high_us;
    report.plain_us = report.profiled_us = {whole.us};
    report.out_of_range = times_.other_code.empty() ? whole.out_of_range : times_.other_code;
    if (report.out_of_range.empty()) report.end_to_end_plus_minus_us = (whole.high_us - whole.low_us) / 2;
    report.level = options_.level;
  }

  void add_insides(ProfileReport& report) {
    const OriginTable& table = built_.optimized->origins();
    for (KernelRow& row : report.kernels) {
      const Function& function = built_.plan.nodes[row.node].function;
      const int index = built_.plan.nodes[row.node].kernel;
      if (!function || index < 0) continue;
      const KernelCase& kernel = times_.kernels[static_cast<size_t>(index)].kernel;
      if (times_.kernels[static_cast<size_t>(index)].exact || !options_.predictor) continue;
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
    else if (!times_.sheets.empty())
      report.machine = times_.sheets.begin()->second->name;
    report.other_machine = options_.predictor && !options_.device.is_here;
    report.rescaled = options_.device.rescaled;
    const auto host = times_.sheets.find("llvm");
    if (host != times_.sheets.end() && host->second->peaks) add_peaks(report, *host->second);
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
    if (options_.predictor && options_.device.is_here) describe_device(report);
    if (parts_by_roofline_)
      report.notes.push_back(
          "inside kernels, operators have portions in proportion to their rooflines: the predictor was "
          "trained "
          "without measured parts");
    report.notes.insert(report.notes.end(), times_.notes.begin(), times_.notes.end());
  }

  void describe_device(ProfileReport& report) const {
    const PredictedDevice& device = options_.device;
    if (!device.rescaled.empty())
      report.notes.push_back(
          "this machine is like the one that the predictor was trained on, not the same (" + device.rescaled +
          "): times are rescaled by its measured rates, and intervals as wide as such moves have needed; "
          "`baton probe` makes a predictor of this machine");
    else
      report.notes.push_back("this is the machine that the predictor was trained on: " + device.title);
    if (!device.busy.empty())
      report.notes.push_back("this machine's rates were measured under load (" + device.busy +
                             ") and are not kept");
  }

  /// An interval that doubts the move to a machine that is like the one in training, too.
  void widen(TimePrediction& time, bool whole_model) const {
    if (options_.device.rescaled.empty() || time.us <= 0) return;
    const double moved = moved_half(whole_model, options_.level);
    const auto wider = [&](double half) { return std::exp(std::hypot(half, moved)); };
    time.high_us = time.us * wider(std::log(time.high_us / time.us));
    time.low_us = time.us / wider(time.low_us > 0 ? std::log(time.us / time.low_us) : moved);
  }

  const BuildResult& built_;
  const PredictOptions& options_;
  const Predictor& predictor_;
  const PredictedKernels times_;
  const int threads_;
  std::vector<ModelKernel> in_model_;
  std::map<int, size_t> place_in_model_;  ///< by kernel of the plan
  double transfers_us_ = 0;
  bool parts_by_roofline_ = false;
};

}  // namespace

PredictedReport predict(const BuildResult& built, const PredictOptions& options) {
  const ModelCard& card = predictor_of(options).card;
  const int threads = options.threads > 0 ? options.threads : card.threads.empty() ? 1 : card.threads.back();
  return PredictedModel(built, options, predict_kernels(built, options, threads), threads).run();
}

}  // namespace baton
