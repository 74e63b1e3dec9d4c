#include "baton/map/model/run_map.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "baton/driver/cut/node_selection.h"
#include "baton/driver/initialize.h"
#include "baton/driver/vm/build_program.h"
#include "baton/predict/predictor_file.h"
#include "baton/profile/measure/measuring_flags.h"
#include "baton/support/error.h"

namespace baton {

void MapCommand::add(Flags& flags) {
  flags
      .list("targets", &options.backends,
            "llvm,dnnl,opencl: backends and simulated devices (sim_npu) that may compute; the processor's "
            "own is always among them (baton targets lists what is there)")
      .required();
  add_threads(flags, &options.threads);
  flags.files("pin", &pins, "%3,%5=dnnl: these operators (as `baton explain` takes them) are computed there")
      .shown_as("OPERATORS=BACKEND");
  flags.files("forbid", &forbids, "%3=dnnl: they are not").shown_as("OPERATORS=BACKEND");
  flags
      .option(
          "objective", &objective,
          "what is made small: serial (one input, one thing after the other), latency (one input, devices "
          "and "
          "links side by side), throughput (the time per input of a stream), energy (of the machine, by its "
          "counters)")
      .show_default();
  flags.files("memory", &memory, "opencl=512MB: of a device, instead of what its sheet says")
      .shown_as("BACKEND=BYTES");
  flags.option("max-regions", &options.max_regions, "at most so many regions beside the processor's; 0: any")
      .range(0, 1e6);
  flags.option("max-seconds", &options.max_seconds, "time for measuring, beyond compiling")
      .show_default()
      .range(0.1, 1e6)
      .in_python("seconds");
  flags.option("tries", &options.tries, "mappings that are built and measured, at most")
      .show_default()
      .range(1, 100);
  flags.option(
      "predictor", &predictor,
      "a file of `baton train`: costs are predicted, nothing is compiled or run, no device is needed");
  flags.option(
      "for-device", &for_device,
      "with --predictor: map for this device, by the name that the predictor has for it, and not for "
      "this machine");
  flags.option("prices", &prices,
               "a predictor for parts of fused kernels, beside measured prices; without it those that matter "
               "are measured");
  flags.option("store", &store,
               "measurements of this machine (baton profile --store): with --predictor or --no-measure the "
               "prices of these very kernels, else of parts of kernels");
  flags.negated(
      "measure", &measure,
      "nothing is compiled or run: all costs come from --store, and from --predictor if it is given; without "
      "both from the predictor of this machine (`baton probe`, or one that comes with Baton)");
  flags.negated("variants", &options.variants,
                "no other layouts and algorithms of the processor's layers (plain, blocked, winograd)");
  flags.files("also", &also, "a mapping of this model: it is measured beside what is found");
  flags
      .files("sweep", &sweeps,
             "also what would be on other machines: link=0.1:100 (links so many times as fast), devices=1:4 "
             "(so many of each device), memory=0.1:10 (so many times the memory of devices), compute=0.1:10 "
             "(devices so many times as fast); may be given several times")
      .shown_as("WHAT=LEAST:MOST");
}

void MapCommand::check() const {
  if (!predictor.empty() && !prices.empty())
    throw UsageError("--predictor predicts all costs, --prices those of parts only: choose one");
  if (!for_device.empty() && predictor.empty() && measure)
    throw UsageError(
        "--for-device names the device of a predictor: give --predictor FILE or --no-measure too");
  for (const std::string& text : sweeps) parse_sweep(text);
  parse_objective(objective);
}

namespace {

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

void add_rules(const std::vector<std::string>& texts, const std::string& flag, bool forbids,
               const OriginTable& table, std::vector<MapRule>& rules) {
  for (const std::string& text : texts) {
    const auto [operators, backend] = sides_of(text, flag, "%3,%5=dnnl");
    MapRule rule{.text = flag + " " + text, .backend = backend, .operators = {}, .forbids = forbids};
    for (const Origin* origin : select_operators(table, operators))
      rule.operators.push_back(static_cast<uint32_t>(index(*table.find(origin))));
    std::ranges::sort(rule.operators);
    rules.push_back(std::move(rule));
  }
}

std::vector<Mapping> mappings_of(const std::vector<std::string>& paths, const IRModule& module) {
  std::vector<Mapping> mappings;
  for (const std::string& path : paths) {
    mappings.push_back(load_mapping(path));
    check_mapping(mappings.back(), module, path);
    mappings.back().model = path;
  }
  return mappings;
}

/// The predictor of the options, which is kept in `command.opened`.
void set_predictor(MapCommand& command) {
  MapOptions& options = command.options;
  OpenedPredictor& opened = command.opened;
  const std::string& file = command.predictor.empty() ? command.prices : command.predictor;
  if (!opened.predictor && file.empty() && (command.measure || !command.store.empty())) return;
  if (!opened.predictor && file.empty()) {
    FoundPredictor found = find_predictor(DeviceSheet::host(), command.for_device);
    opened = {std::make_shared<const Predictor>(std::move(found.predictor)), found.path};
  }
  if (!opened.predictor) opened = {std::make_shared<const Predictor>(load_predictor(file)), file};
  options.prices.predictor = opened.predictor.get();
  options.prices.device =
      predicted_device(*opened.predictor, opened.name, DeviceSheet::host(), command.for_device);
  if (!options.measures)
    options.build.context = context_of_device(options.prices.device, options.build.context);
}

}  // namespace

SweptMap run_map(MapCommand command, const IRModule& module, const std::string& name) {
  command.check();
  initialize();
  MapOptions& options = command.options;
  options.objective = parse_objective(command.objective);
  options.measures = command.measures();
  for (const std::string& each : command.memory) {
    const auto [backend, bytes] = sides_of(each, "--memory", "opencl=512MB");
    options.memory_bytes[backend] = bytes_of(bytes, "--memory " + each);
  }
  add_rules(command.pins, "--pin", false, module->origins(), options.rules);
  add_rules(command.forbids, "--forbid", true, module->origins(), options.rules);
  set_predictor(command);
  std::optional<Store> store;
  if (!command.store.empty())
    options.prices.store = &store.emplace(Store::open(command.store, Store::Mode::kRead));
  std::vector<SweepRange> ranges;
  for (const std::string& text : command.sweeps) ranges.push_back(parse_sweep(text));
  check_sweeps(ranges, options);
  options.also = mappings_of(command.also, module);
  command.ready();
  SweptMap mapped{for_plans(module, "mappings are", [&] { return map_model(module, options); })};
  MapReport& report = mapped.result.report;
  report.model = report.mapping.model = name;
  for (const SweepRange& range : ranges) {
    SweepOptions how{.interrupt = options.build.context.interrupt};
    if (options.progress)
      how.progress = [&](int done, int total) {
        options.progress("sweeping " + sweep_name(range.of), done, total);
      };
    mapped.sweeps.push_back(sweep(mapped.result, range, how));
  }
  return mapped;
}

}  // namespace baton
