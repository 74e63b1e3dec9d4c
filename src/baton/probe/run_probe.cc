#include "baton/probe/run_probe.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "baton/campaign/campaign.h"
#include "baton/codegen/backend.h"
#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/driver/initialize.h"
#include "baton/predict/boosting.h"
#include "baton/predict/device_match.h"
#include "baton/predict/evaluation.h"
#include "baton/predict/model/predicted_device.h"
#include "baton/predict/predictor_file.h"
#include "baton/probe/candidates.h"
#include "baton/profile/report/peaks.h"
#include "baton/profile/write/files.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/error.h"
#include "baton/target/machine_name.h"

namespace baton {

namespace {

constexpr char kCampaign[] = "probe", kBackend[] = "llvm";
constexpr double kRatesS = 5;   // of measuring this machine's rates
constexpr double kTrainS = 15;  // kept for training
constexpr double kLeastS = 5;   // of measuring programs, however little time there is
constexpr int kBatch = 8;       // programs that are built before they are measured: time is looked at between
constexpr double kAnyDrift = 1e9;  // each row has the core's clock, and says by itself when it was disturbed

/// "my-host" of "My Host".
std::string file_name_of(std::string name) {
  for (char& c : name) {
    const auto each = static_cast<unsigned char>(c);
    c = std::isalnum(each) ? static_cast<char>(std::tolower(each)) : '-';
  }
  return name.empty() ? "this-machine" : name;
}

/// How far apart two machines are: rates in octaves; any other vectors are farther.
double distance(const DeviceSheet& a, const DeviceSheet& b) {
  double sum = a.float_lanes == b.float_lanes ? 0 : 100;
  if (!a.peaks || !b.peaks) return sum + 50;
  for (const auto rate : {&DevicePeaks::gflops, &DevicePeaks::gbytes_per_s, &DevicePeaks::cache_gbytes_per_s,
                          &DevicePeaks::l3_gbytes_per_s})
    if ((*a.peaks).*rate > 0 && (*b.peaks).*rate > 0)
      sum += std::abs(std::log2((*a.peaks).*rate / (*b.peaks).*rate));
  return sum;
}

/// Those that come with Baton, of the machine nearest to this one first.
std::vector<FoundPredictor> nearest_predictors(const DeviceSheet& here) {
  std::vector<std::pair<double, FoundPredictor>> all;
  for (const std::string& path : shipped_predictors()) {
    FoundPredictor found{path, load_predictor(path)};
    const DeviceSheet* trained =
        found.predictor.machines.empty() ? nullptr : processor_of(found.predictor.machines.front());
    if (trained && found.predictor.kernels.contains(kBackend))
      all.emplace_back(distance(*trained, here), std::move(found));
  }
  if (all.empty())
    throw Error("no predictor comes with this Baton to start from: give one of another machine, --from FILE");
  std::ranges::stable_sort(all, {}, [](const auto& each) { return each.first; });
  std::vector<FoundPredictor> found;
  for (auto& [far, each] : all) found.push_back(std::move(each));
  return found;
}

class Probe {
 public:
  explicit Probe(const ProbeCommand& command)
      : command_(command), name_(command.name.empty() ? file_name_of(machine_name()) : command.name) {
    const std::string folder = user_predictors();
    if (folder.empty() && command.output.empty())
      throw UsageError(
          "there is no folder for the predictor: neither BATON_CACHE_DIR nor HOME is set; give -o FILE");
    report_.path = command.output.empty() ? folder + "/" + name_ + ".predictor" : command.output;
    report_.store = report_.path + ".db";
    const std::filesystem::path parent = std::filesystem::path(report_.path).parent_path();
    std::error_code failed;
    if (!parent.empty()) std::filesystem::create_directories(parent, failed);
    if (failed) throw Error(parent.string() + " cannot be made: " + failed.message());
    if (command.again) std::filesystem::remove(report_.store, failed);
  }

  ProbeReport run() {
    context_ = host_context();
    context_.interrupt = command_.interrupt;
    Store store = Store::open(report_.store, Store::Mode::kWrite);
    if (!command_.from.empty()) sources_.push_back({command_.from, load_predictor(command_.from)});
    find_rates(store);
    find_sources();
    measure(store);
    count_rows(store);
    if (report_.partial == "interrupted")
      report_.path.clear();
    else
      carry_over(store);
    report_.seconds = seconds_since(begin_);
    return std::move(report_);
  }

 private:
  void show(const std::string& phase, int done = 0, int total = 0, std::optional<double> left = {}) const {
    if (command_.progress) command_.progress({phase, done, total, left});
  }

  /// Those of an earlier call where there was one: the same sheet, the same choice.
  void find_rates(const Store& store) {
    show("measuring the rates of this machine");
    report_.sheet = context_.sheets.front();
    StoreQuery query;
    query.campaign = kCampaign;
    bool known = false;
    store.each(query, [&](const Measurement& row) {
      known = row.device.peaks && row.device.code_hash() == report_.sheet.code_hash();
      if (known) report_.sheet = row.device;
      return !known;
    });
    if (!known) {
      RatedSheet rated = rated_sheet(report_.sheet, 1, KernelCache::shared(), kRatesS);
      report_.sheet = std::move(rated.sheet);
      report_.busy = std::move(rated.busy);
    }
    if (!report_.busy.empty() && !command_.under_load)
      throw Error("this machine is busy (" + report_.busy +
                  "), and the rates that a probe starts from would be those that other programs leave: all "
                  "predictions would be off by it\n  close them and call `baton probe` again; --under-load "
                  "takes these rates nevertheless");
    context_.sheets.front() = report_.sheet;
    report_.device = device_title(report_.sheet);
  }

  void find_sources() {
    if (sources_.empty()) sources_ = nearest_predictors(report_.sheet);
    if (!sources_.front().predictor.kernels.contains(kBackend))
      throw Error(command_.from + " has no kernels of backend " + kBackend + ", which a probe measures");
  }

  CampaignPlan chosen(const Design& design) {
    show("choosing what to measure");
    ProbeCandidates candidates = probe_candidates(sources_.front().predictor, kBackend, context_,
                                                  static_cast<uint64_t>(command_.seed));
    const ProgramChoice choice =
        choose_programs(candidates.kernels, candidates.programs, command_.networks, command_.kernels);
    report_.doubt_left = choice.before > 0 ? choice.after / choice.before : 1;
    CampaignPlan plan;
    for (const int each : choice.programs) {
      Subject& subject = candidates.subjects[static_cast<size_t>(each)];
      (subject.kind == Subject::Kind::kModel ? report_.networks : report_.kernels) += 1;
      plan.configurations.push_back(
          {configuration_key(subject, kBackend, 1, design), plan.subjects.size(), kBackend, 1});
      plan.subjects.push_back(std::move(subject));
    }
    return plan;
  }

  void measure(Store& store) {
    Design design;
    design.protocol.min_samples = 15;
    design.protocol.max_seconds = 0.4;
    CampaignPlan plan = chosen(design);
    CampaignOptions options;
    options.name = kCampaign;
    options.context = context_;
    options.sheet = report_.sheet;
    options.wait_s = 0;  // all of the time is for measuring: samples beside other programs say so
    options.drift = kAnyDrift;
    options.batch = kBatch;
    options.max_seconds = std::max(kLeastS, command_.minutes * 60 - kTrainS - seconds_since(begin_));
    options.progress = [this](const CampaignProgress& now) {
      show(now.phase, now.done, now.total, now.seconds_left);
    };
    const CampaignWorker worker =
        campaign_worker({.on = "local", .wait_s = 0, .interrupt = command_.interrupt});
    const CampaignReport measured = run_campaign(store, design, std::move(plan), worker, options);
    report_.measured = measured.measured;
    report_.measured_before = measured.finished_before;
    report_.failed = measured.failed;
    report_.measure_s = measured.seconds;
    report_.partial = measured.partial;
  }

  void count_rows(const Store& store) {
    StoreQuery query;
    query.campaign = kCampaign;
    store.each(query, [&](const Measurement& row) {
      if (row.work.kind == WorkKind::kReference || row.unreliable.starts_with("failed: ")) return true;
      ++report_.rows;
      // "measured beside other programs, which used 1.4 processors, +- 30 %": the numbers are each row's own.
      if (!row.unreliable.empty()) ++report_.left_out[row.unreliable.substr(0, row.unreliable.find(','))];
      return true;
    });
  }

  void carry_over(const Store& store) {
    show("carrying a predictor over");
    const Dataset data = dataset_of(store, kBackend);
    // Which machine is the most like this one, what was measured tells better than their sheets.
    FoundPredictor& source = *std::ranges::min_element(sources_, {}, [&](const FoundPredictor& each) {
      return error_spread(each.predictor, data, kBackend);
    });
    report_.from = source.path;
    TrainOptions options;
    options.name = name_;
    options.seed = options.regressor.boost.seed = static_cast<uint32_t>(command_.seed);
    options.from = std::make_shared<const Predictor>(std::move(source.predictor));
    options.regressor.boost = few_kernels_options(options.regressor.boost);
    options.regressor.boost.threads = default_threads();
    options.progress = [this](const std::string& what, int done, int total) { show(what, done, total); };
    Predictor made;
    try {
      made = train(data, options);
    } catch (const Error& error) {
      throw Error("what was measured is too little for a predictor: " + std::string(error.what()) +
                  "\n  `baton probe` again goes on from there; --minutes gives it more time");
    }
    save_predictor(made, report_.path);
    report_.card = made.card;
  }

  const ProbeCommand& command_;
  const std::string name_;
  const int64_t begin_ = monotonic_ns();
  BuildContext context_;
  std::vector<FoundPredictor> sources_;  ///< to carry over: the nearest first
  ProbeReport report_;
};

}  // namespace

void ProbeCommand::add(Flags& flags) {
  flags.option("minutes", &minutes, "all of it, with choosing and training").show_default().range(0.1, 600.0);
  flags.option("kernels", &kernels, "so many single kernels are chosen").show_default().range(0, 200);
  flags.option("networks", &networks, "so many networks are chosen, measured whole and kernel by kernel")
      .show_default()
      .range(0, 80);
  flags
      .option("from", &from,
              "the predictor that is carried over; by default the one that comes with Baton and is of the "
              "machine nearest to this one")
      .in_python("source");
  flags.option("name", &name, "of the predictor, as `--for-device` takes it; by default that of the machine");
  flags.option("o,output", &output,
               "the predictor's file; by default in the folder of your own predictors, where `predict` and "
               "`map` find it");
  flags.option("seed", &seed, "of the programs to choose from, and of training")
      .show_default()
      .range(0, 1000000);
  flags.flag("again", &again, "measure anew what an earlier call has measured");
  flags.flag(
      "under-load", &under_load,
      "take the rates of the machine also where other programs disturb their measuring: predictions are "
      "off by as much");
}

double ProbeReport::spoiled() const {
  int64_t all = 0;
  for (const auto& [why, count] : left_out) all += count;
  return rows > 0 ? static_cast<double>(all) / static_cast<double>(rows) : 0;
}

ProbeReport run_probe(const ProbeCommand& command) {
  if (const std::string why = no_xgboost(); !why.empty()) throw Error(why);  // before measuring
  if (!command.output.empty()) check_writable(command.output);
  initialize();
  return Probe(command).run();
}

Json probe_json(const ProbeReport& report) {
  return {{"schema", 1},
          {"predictor", report.path.empty() ? Json(nullptr) : Json(report.path)},
          {"store", report.store},
          {"device", report.device},
          {"sheet", report.sheet.text()},
          {"busy", report.busy},
          {"from", report.from},
          {"networks", report.networks},
          {"kernels", report.kernels},
          {"doubt_left", report.doubt_left},
          {"measured", report.measured},
          {"measured_before", report.measured_before},
          {"failed", report.failed},
          {"rows", report.rows},
          {"left_out", report.left_out},
          {"spoiled", report.spoiled()},
          {"seconds", report.seconds},
          {"measure_s", report.measure_s},
          {"partial", report.partial.empty() ? Json(nullptr) : Json(report.partial)},
          {"card", report.path.empty() ? Json(nullptr) : card_json(report.card)}};
}

}  // namespace baton
