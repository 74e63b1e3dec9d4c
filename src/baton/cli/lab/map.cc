// Maps a model onto several backends.
#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "baton/cli/common.h"
#include "baton/cli/outputs.h"
#include "baton/driver/case_file.h"
#include "baton/driver/cut/cut_text.h"
#include "baton/driver/cut/node_selection.h"
#include "baton/driver/initialize.h"
#include "baton/map/model/map_model.h"
#include "baton/map/model/map_text.h"
#include "baton/map/model/sweep.h"
#include "baton/map/write/map_page.h"
#include "baton/predict/model/predict_model.h"
#include "baton/predict/predictor_file.h"
#include "baton/store/store.h"
#include "baton/support/error.h"

namespace baton::cli {

namespace {

std::vector<std::string> items_of(const std::string& list) {
  std::vector<std::string> items;
  std::istringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');) items.push_back(item);
  return items;
}

/// "%3,%5=dnnl": what is before and after the last `=`.
std::pair<std::string, std::string> sides_of(const std::string& text, const std::string& flag,
                                             const std::string& example) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw UsageError(flag + " " + text + ": write " + flag + " " + example);
  return {text.substr(0, at), text.substr(at + 1)};
}

/// "512MB", "2GB", "65536".
double bytes_of(const std::string& text, const std::string& flag) {
  size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  const std::string unit = text.substr(used);
  const double scale = unit.empty() || unit == "B" ? 1
                       : unit == "kB"              ? 1e3
                       : unit == "MB"              ? 1e6
                       : unit == "GB"              ? 1e9
                                                   : 0;
  if (used == 0 || scale == 0 || !(value > 0) || !std::isfinite(value))
    throw UsageError(flag + ": `" + text + "` is no amount of memory: write 65536, 512MB or 2GB");
  return value * scale;
}

class MapVerb final : public Verb {
 public:
  using Verb::Verb;

  void flags(Flags& flags) override {
    flags_.add(flags);
    flags
        .option(
            "targets", &targets_,
            "llvm,dnnl,opencl: backends and simulated devices (sim_npu) that may compute; the processor's "
            "own is always among them (baton targets lists what is there)")
        .required();
    flags.files("backend", &flags_.own_backends, "a backend of your own: a shared library (docs/guide.md)");
    add_threads(flags, &options_.threads);
    flags
        .files("pin", &pins_,
               "%3,%5=dnnl: these operators (as `baton explain` takes them) are computed there")
        .shown_as("OPERATORS=BACKEND");
    flags.files("forbid", &forbids_, "%3=dnnl: they are not").shown_as("OPERATORS=BACKEND");
    flags
        .option("objective", &objective_,
                "what is made small: serial (one input, one thing after the other), latency (one input, "
                "devices and links side by side), throughput (the time per input of a stream), energy (of "
                "the machine, "
                "by its counters)")
        .show_default();
    flags.files("memory", &memory_, "opencl=512MB: of a device, instead of what its sheet says")
        .shown_as("BACKEND=BYTES");
    flags
        .option("max-regions", &options_.max_regions,
                "at most so many regions beside the processor's; 0: any")
        .range(0, 1e6);
    flags.option("max-seconds", &options_.max_seconds, "time for measuring, beyond compiling")
        .show_default()
        .range(0.1, 1e6);
    flags.option("tries", &options_.tries, "mappings that are built and measured, at most")
        .show_default()
        .range(1, 100);
    flags.option(
        "predictor", &predictor_,
        "a file of `baton train`: costs are predicted, nothing is compiled or run, no device is needed");
    flags.option("for-device", &for_device_,
                 "with --predictor: map for this device, by the name that the predictor has for it, and not "
                 "for this machine");
    flags.option(
        "prices", &prices_,
        "a predictor for parts of fused kernels, beside measured prices; without it those that matter "
        "are measured");
    flags.option("store", &store_,
                 "measurements of this machine (baton profile --store): with --predictor or --no-measure the "
                 "prices of these very kernels, else of parts of kernels");
    flags.flag(
        "no-measure", &no_measure_,
        "nothing is compiled or run: all costs come from --store, and from --predictor if it is given");
    flags.flag("no-variants", &no_variants_,
               "no other layouts and algorithms of the processor's layers (plain, blocked, winograd)");
    flags.files("also", &also_, "a mapping of this model: it is measured beside what is found");
    flags
        .files("sweep", &sweep_texts_,
               "also what would be on other machines: link=0.1:100 (links so many times as fast), "
               "devices=1:4 (so many of each device), memory=0.1:10 (so many times the memory of devices), "
               "compute=0.1:10 (devices so many times as fast); may be given several times")
        .shown_as("WHAT=LEAST:MOST");
    add_wait(flags, &wait_);
    outputs_.add(flags, map_file_kinds());
    flags.option("module", &module_, "write the partitioned program to this .relay file");
    flags.option("artifact", &artifact_, "build the mapping, and write it to this .baton file");
    flags.flag("json", &json_, "the report as JSON on standard output (docs/design/0040-mapping.md)");
  }

  int run(Io& io) override {
    const bool measures = predictor_.empty() && !no_measure_;
    if (!artifact_.empty() && !measures)
      throw UsageError("--artifact builds the mapping, " +
                       std::string(predictor_.empty() ? "--no-measure" : "--predictor") +
                       " builds nothing: choose one");
    if (!predictor_.empty() && !prices_.empty())
      throw UsageError("--predictor predicts all costs, --prices those of parts only: choose one");
    if (!for_device_.empty() && predictor_.empty())
      throw UsageError("--for-device names the device of a predictor: give --predictor FILE too");
    if (no_measure_ && predictor_.empty() && store_.empty())
      throw UsageError("--no-measure: costs come from --store FILE or --predictor FILE then");
    if (!measures)
      refuse_options(
          io, {"max-seconds", "tries", "also", "wait"},
          "nothing is measured with " + std::string(predictor_.empty() ? "--no-measure" : "--predictor"));
    std::vector<SweepRange> ranges;
    for (const std::string& text : sweep_texts_) ranges.push_back(parse_sweep(text));
    options_.objective = parse_objective(objective_);
    // The page shows times, and what they would be at other prices of transfers.
    if (options_.objective == MapObjective::kEnergy) outputs_.set_kinds({map_file_kinds().front()});
    outputs_.check();
    initialize();
    options_.build.context = flags_.context();
    options_.backends = items_of(targets_);
    for (const std::string& each : memory_) {
      const auto [backend, bytes] = sides_of(each, "--memory", "opencl=512MB");
      options_.memory_bytes[backend] = bytes_of(bytes, "--memory " + each);
    }
    const LoadedModel model = load_model(flags_.model, flags_.shapes);
    options_.build.params = load_params(model, flags_.params, flags_.inputs);
    add_rules(pins_, "--pin", false, model.module->origins());
    add_rules(forbids_, "--forbid", true, model.module->origins());
    Predictor predictor;
    std::optional<Store> store;
    options_.measures = measures;
    options_.variants = !no_variants_;
    if (const std::string& file = predictor_.empty() ? prices_ : predictor_; !file.empty()) {
      predictor = load_predictor(file);
      options_.prices.predictor = &predictor;
      options_.prices.device = predicted_device(predictor, file, DeviceSheet::host(), for_device_);
      if (!measures)
        options_.build.context = context_of_device(options_.prices.device, options_.build.context);
    }
    if (!store_.empty()) {
      store = Store::open(store_, Store::Mode::kRead);
      options_.prices.store = &*store;
    }
    check_sweeps(ranges, options_);
    for (const std::string& path : also_) {
      options_.also.push_back(load_mapping(path));
      check_mapping(options_.also.back(), model.module, path);
      options_.also.back().model = path;
    }
    if (measures) wait_for_quiet(wait_, io);
    const InterruptScope interrupt;
    Progress progress(io);
    options_.build.context.interrupt = interrupt.flag();
    options_.progress = [&](const std::string& phase, int done, int total) {
      progress.show(phase, done, total);
    };
    MapResult result = map_model(model.module, options_);
    result.report.model = result.report.mapping.model = model.name;
    std::vector<MapSweep> sweeps;
    const auto swept = [&](const SweepRange& range, SweepOptions how, const std::string& phase) {
      how.interrupt = interrupt.flag();
      how.progress = [&](int done, int total) { progress.show(phase, done, total); };
      return sweep(result, range, how);
    };
    for (const SweepRange& range : ranges)
      sweeps.push_back(swept(range, {}, "sweeping " + sweep_name(range.of)));
    std::optional<MapSweep> prices;  // only the page shows them
    outputs_.write(io, [&](const WantedFile& file) {
      if (file.suffix == ".json") return mapping_json(result.report.mapping);
      if (!prices) prices = swept(transfer_prices(), transfer_price_options(), "other prices of transfers");
      progress.clear();
      return map_page(result, sweeps, *prices);
    });
    progress.clear();
    if (!module_.empty()) write_text_file(module_, readable_text(*result.module));
    if (!artifact_.empty()) write_artifact(build(result.module, options_.build), artifact_);
    if (json_) {
      io.out << map_json(result.report, sweeps).dump() << '\n';
    } else {
      io.out << model.name << " over " << joined(result.report.backends) << ", " << result.report.threads
             << (result.report.threads == 1 ? " thread" : " threads") << ", opt level " << flags_.opt_level
             << ", " << result.report.machine << "\n\n"
             << map_table(result.report);
      for (const MapSweep& each : sweeps) io.out << sweep_table(each);
    }
    return InterruptScope::exit_status();
  }

 private:
  static std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  void add_rules(const std::vector<std::string>& texts, const std::string& flag, bool forbids,
                 const OriginTable& table) {
    for (const std::string& text : texts) {
      const auto [operators, backend] = sides_of(text, flag, "%3,%5=dnnl");
      MapRule rule{.text = flag + " " + text, .backend = backend, .operators = {}, .forbids = forbids};
      for (const Origin* origin : select_operators(table, operators))
        rule.operators.push_back(static_cast<uint32_t>(index(*table.find(origin))));
      std::ranges::sort(rule.operators);
      options_.rules.push_back(std::move(rule));
    }
  }

  ModelFlags flags_;
  MapOptions options_;
  std::string objective_ = "serial";
  OutputFiles outputs_;
  std::string targets_, predictor_, for_device_, prices_, store_, module_, artifact_;
  std::vector<std::string> pins_, forbids_, memory_, also_, sweep_texts_;
  double wait_ = 0;
  bool json_ = false, no_measure_ = false, no_variants_ = false;
};

}  // namespace

std::unique_ptr<Verb> map_verb(std::string name, std::string doc) {
  return std::make_unique<MapVerb>(std::move(name), std::move(doc));
}

}  // namespace baton::cli
