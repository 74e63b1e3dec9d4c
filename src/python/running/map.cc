// Mappings of models over several backends.
#include "baton/driver/initialize.h"
#include "baton/map/model/map_model.h"
#include "baton/map/model/map_text.h"
#include "baton/map/model/sweep.h"
#include "baton/map/write/map_page.h"
#include "baton/profile/write/alternatives_text.h"
#include "baton/store/store.h"

#include "python/door.h"
#include "python/running/held_predictor.h"
#include "python/running/interruptible.h"

namespace baton::python {

namespace {

/// A mapping, and the sweeps that were asked for.
struct HeldMap {
  MapResult result;
  std::vector<MapSweep> sweeps = {};
};

/// Operators and a backend, as Python gives them.
using RuleArgument = std::tuple<std::vector<uint32_t>, std::string, bool>;

HeldMap map_module(const IRModule& module, const nb::dict& params, std::vector<std::string> targets,
                   const std::vector<RuleArgument>& rules, std::map<std::string, double> memory,
                   int max_regions, int threads, double seconds, int tries, const HeldPredictor* by,
                   std::string name, const std::string& objective,
                   const std::vector<std::string>& sweep_texts, bool variants, const std::string& store_path,
                   bool measures, const std::string& for_device) {
  std::vector<SweepRange> ranges;
  for (const std::string& text : sweep_texts) ranges.push_back(parse_sweep(text));
  MapOptions options;
  options.objective = parse_objective(objective);
  options.build.params = arrays_from_python(params);
  options.build.context = door_context();
  if (by) {
    options.prices.device = predicted_device(*by->of, by->name, DeviceSheet::host(), for_device);
    if (!measures) options.build.context = context_of_device(options.prices.device, options.build.context);
  }
  options.build.context.targets.clear();
  options.backends = std::move(targets);
  options.memory_bytes = std::move(memory);
  options.max_regions = max_regions;
  options.threads = threads;
  options.max_seconds = seconds;
  options.tries = tries;
  options.prices.predictor = by ? by->of.get() : nullptr;
  options.measures = measures;
  options.variants = variants;
  std::optional<Store> store;
  if (!store_path.empty()) {
    store = Store::open(store_path, Store::Mode::kRead);
    options.prices.store = &*store;
  }
  const size_t count = module->origins().size();
  for (const auto& [operators, backend, forbids] : rules) {
    MapRule rule{
        .text = forbids ? "forbid" : "pin", .backend = backend, .operators = operators, .forbids = forbids};
    rule.text += "[\"" + backend + "\"]";
    for (const uint32_t id : operators)
      if (id >= count)
        throw nb::value_error((rule.text + ": there is no operator " + std::to_string(id)).c_str());
    std::ranges::sort(rule.operators);
    options.rules.push_back(std::move(rule));
  }
  initialize();
  check_sweeps(ranges, options);
  return interruptible([&](const std::atomic<bool>* stop) {
    options.build.context.interrupt = stop;
    HeldMap held{map_model(module, options)};
    held.result.report.model = held.result.report.mapping.model = name;
    for (const SweepRange& range : ranges)
      held.sweeps.push_back(sweep(held.result, range, {.interrupt = stop}));
    return held;
  });
}

/// Searches mappings for other prices of transfers first.
nb::bytes mapping_page(const HeldMap& held) {
  if (held.result.report.objective == MapObjective::kEnergy)
    throw UsageError(
        "a page shows times, and what they would be at other prices of transfers: save a mapping by "
        "energy as .json");
  const std::string text = interruptible([&](const std::atomic<bool>* stop) {
    SweepOptions how = transfer_price_options();
    how.interrupt = stop;
    return map_page(held.result, held.sweeps, sweep(held.result, transfer_prices(), how));
  });
  return nb::bytes(text.data(), text.size());
}

std::string mapping_table(const HeldMap& held) {
  std::string text = map_table(held.result.report);
  for (const MapSweep& each : held.sweeps) text += sweep_table(each);
  return text;
}

IRModule apply_text(const IRModule& module, const nb::dict& params, const std::string& text,
                    const std::string& name) {
  const NamedArrays weights = arrays_from_python(params);
  const BuildContext context = door_context();
  initialize();
  const Mapping mapping = parse_mapping(text, name);
  check_mapping(mapping, module, name);
  for (const std::string& note : mapping_notes(mapping, context))
    if (PyErr_WarnEx(PyExc_UserWarning, note.c_str(), 2)) throw nb::python_error();
  const nb::gil_scoped_release released;
  return apply_mapping(bind_params(module, weights), mapping, context);
}

}  // namespace

void bind_map(nb::module_& m) {
  nb::class_<HeldMap>(m, "MapResult", "A mapping of a model over several backends: baton.map.")
      .def_prop_ro(
          "mod", [](const HeldMap& r) { return r.result.module; },
          "IRModule: a function per region; weights are constants. relay.build takes it.")
      .def("_report", [](const HeldMap& r) { return map_json(r.result.report, r.sweeps).dump(); })
      .def("_mapping", [](const HeldMap& r) { return mapping_json(r.result.report.mapping); })
      .def("_page", &mapping_page)
      .def("__str__", &mapping_table)
      .def(
          "why",
          [](const HeldMap& r, uint32_t id) {
            return alternatives_text(r.result.report.mapping.operators.at(id));
          },
          nb::arg("operator"),
          "Where operator number `operator` sits, what it would cost elsewhere, and what would have to "
          "change for it to "
          "move: text. IndexError for a number that there is not.");
  m.def("map", &map_module, nb::arg("module"), nb::arg("params"), nb::arg("targets"), nb::arg("rules"),
        nb::arg("memory"), nb::arg("max_regions"), nb::arg("threads"), nb::arg("seconds"), nb::arg("tries"),
        nb::arg("predictor").none(), nb::arg("name"), nb::arg("objective"), nb::arg("sweeps"),
        nb::arg("variants"), nb::arg("store"), nb::arg("measures"), nb::arg("for_device"));
  m.def("apply_mapping", &apply_text, nb::arg("module"), nb::arg("params"), nb::arg("text"), nb::arg("name"));
}

}  // namespace baton::python
