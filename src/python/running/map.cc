// Mappings of models over several backends.
#include "baton/driver/initialize.h"
#include "baton/map/model/map_text.h"
#include "baton/map/model/run_map.h"
#include "baton/map/write/map_page.h"
#include "baton/profile/write/alternatives_text.h"

#include "python/door.h"
#include "python/keywords.h"
#include "python/running/held_predictor.h"
#include "python/running/interruptible.h"

namespace baton::python {

namespace {

/// Operators and a backend, as Python gives them.
using RuleArgument = std::tuple<std::vector<uint32_t>, std::string, bool>;

MapRule rule_of(const RuleArgument& given, size_t count) {
  const auto& [operators, backend, forbids] = given;
  MapRule rule{.text = (forbids ? "forbid[\"" : "pin[\"") + backend + "\"]",
               .backend = backend,
               .operators = operators,
               .forbids = forbids};
  for (const uint32_t id : operators)
    if (id >= count)
      throw nb::value_error((rule.text + ": there is no operator " + std::to_string(id)).c_str());
  std::ranges::sort(rule.operators);
  return rule;
}

/// `by`: an opened predictor, in place of a file.
SweptMap map_module(const nb::dict& options, const IRModule& module, const nb::dict& params,
                    const std::vector<RuleArgument>& rules, std::map<std::string, double> memory,
                    const HeldPredictor* by, const std::string& name) {
  Called<MapCommand> command("map", options);
  MapOptions& how = command.options;
  how.build.params = arrays_from_python(params);
  how.build.context = door_context();
  how.build.context.targets.clear();
  how.memory_bytes = std::move(memory);
  for (const RuleArgument& each : rules) how.rules.push_back(rule_of(each, module->origins().size()));
  if (by) command.opened = {by->of, by->name};
  return interruptible([&](const std::atomic<bool>* stop) {
    how.build.context.interrupt = stop;
    return command.run([&] { return run_map(command, module, name); });
  });
}

/// Searches mappings for other prices of transfers first.
nb::bytes mapping_page(const SweptMap& held) {
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

std::string mapping_table(const SweptMap& held) {
  std::string text = map_table(held.result.report);
  for (const MapSweep& each : held.sweeps) text += sweep_table(each);
  return text;
}

/// `given`: a dict, or the text of a file.
IRModule apply_given(const IRModule& module, const nb::dict& params, nb::handle given,
                     const std::string& name) {
  const NamedArrays weights = arrays_from_python(params);
  const BuildContext context = door_context();
  initialize();
  const bool is_text = PyUnicode_Check(given.ptr());
  const Mapping mapping = mapping_of(
      is_text ? Json::parse_or_discard(nb::cast<std::string>(given)) : json_from_python(given), name);
  check_mapping(mapping, module, name);
  for (const std::string& note : mapping_notes(mapping, context))
    if (PyErr_WarnEx(PyExc_UserWarning, note.c_str(), 2)) throw nb::python_error();
  const nb::gil_scoped_release released;
  return apply_mapping(bind_params(module, weights), mapping, context);
}

}  // namespace

void bind_map(nb::module_& m) {
  nb::class_<SweptMap>(m, "MapResult", "A mapping of a model over several backends: baton.map.")
      .def_prop_ro(
          "mod", [](const SweptMap& r) { return r.result.module; },
          "IRModule: a function per region; weights are constants. relay.build takes it.")
      .def("_report", [](const SweptMap& r) { return map_json(r.result, r.sweeps); })
      .def("_mapping", [](const SweptMap& r) { return mapping_value(r.result.report.mapping); })
      .def("_mapping_text", [](const SweptMap& r) { return mapping_json(r.result.report.mapping); })
      .def("_page", &mapping_page)
      .def("__str__", &mapping_table)
      .def(
          "why",
          [](const SweptMap& r, uint32_t id) {
            return alternatives_text(r.result.report.mapping.operators.at(id));
          },
          nb::arg("operator"),
          "Where operator number `operator` sits, what it would cost elsewhere, and what would have to "
          "change for it to "
          "move: text. IndexError for a number that there is not.");
  bind_options<MapCommand>(m, "map");
  m.def("map", &map_module, nb::arg("options"), nb::arg("module"), nb::arg("params"), nb::arg("rules"),
        nb::arg("memory"), nb::arg("predictor").none(), nb::arg("name"));
  m.def("apply_mapping", &apply_given, nb::arg("module"), nb::arg("params"), nb::arg("mapping"),
        nb::arg("name"));
}

}  // namespace baton::python
