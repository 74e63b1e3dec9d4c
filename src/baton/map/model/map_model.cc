#include "baton/map/model/map_model.h"

#include <algorithm>

#include "baton/map/model/alternatives.h"
#include "baton/map/model/choose.h"
#include "baton/map/model/links.h"
#include "baton/map/model/piece_prices.h"
#include "baton/map/model/search_mappings.h"
#include "baton/map/model/time_backends.h"
#include "baton/support/version.h"
#include "baton/text/origin_label.h"

namespace baton {

namespace {

constexpr double kAlternativeSeconds = 10;

/// The choice, judged by rounds that did not choose it. What an interrupt left unmeasured is not kept.
MapChoice choose_and_verify(const MapTask& task, MapRun& run, MapModels& models) {
  std::vector<bool> usable;
  for (const auto& subject : models.subjects) usable.push_back(subject != nullptr);
  const MapChoice choice = choose(models.all, usable, task.predicted());
  if (task.predicted()) return choice;
  std::vector<size_t> which = rivals_of(models.all, usable, choice);
  if (choice.chosen != choice.best_single) which.push_back(choice.chosen);
  if (which.size() < 2) return choice;
  if (run.partial.empty()) {
    verify_models(task, run, models, which, task.options.max_seconds * kForVerifying);
    const auto failed = [&](size_t each) { return !models.subjects[each]; };
    if (std::ranges::any_of(which, failed)) return choose_and_verify(task, run, models);  // among the others
  }
  JudgedChoice judged = judge(models.all, choice, task.options.objective);
  if (!judged.note.empty()) run.notes.push_back(std::move(judged.note));
  return judged.choice;
}

/// All but what is of the chosen mapping.
MapReport report_of(const MapTask& task, const MapRun& run, const MapSearch& found, const MapPrices& prices,
                    const MapChoice& choice) {
  MapReport report;
  report.choice = choice;
  report.predicted = task.predicted();
  report.objective = task.options.objective;
  const PriceSource& source = task.options.prices;
  report.machine =
      task.predicted() && source.predictor ? source.device.title : task.options.build.context.host().name;
  report.backends = task.backends;
  report.threads = found.models.threads;
  report.models = found.models.all;
  report.notes = run.notes;
  report.partial = run.partial;
  report.bound_us = found.bound_us;
  report.overlap_share = found.models.overlap_share;
  report.method = found.method;
  report.search_s = run.search_s;
  report.build_s = run.build_s;
  report.measure_s = run.measure_s;
  const auto add_link = [&](size_t from, size_t to) {
    const MappingConversion& link = *prices.links[from][to];
    report.links.push_back({task.machine.devices[from], task.machine.devices[to], link.fixed_us,
                            link.us_per_byte > 0 ? 1e-3 / link.us_per_byte : 0});
  };
  for (size_t d = 1; d < task.machine.devices.size(); ++d) {
    add_link(0, d);
    add_link(d, 0);
  }
  const MapObjective runs = task.run_objective();
  report.overlap_measured = runs == MapObjective::kLatency || runs == MapObjective::kThroughput;
  report.note_load();
  return report;
}

Alternatives alternatives_of(const MapTask& task, const MapRun& run, const MapSearch& found) {
  AlternativeOptions how{.backends = task.backends,
                         .layers = {},
                         .objective = task.options.objective,
                         .seconds = kAlternativeSeconds,
                         .interrupt = run.build.context.interrupt};
  const OriginReport& origins = found.models.builds.front().origins;
  for (const OperatorRecord& each : origins.operators) how.layers.push_back(is_layer(each));
  if (task.options.objective == MapObjective::kEnergy)  // which has no prices of kernels elsewhere
    return {std::vector<std::vector<MappedAlternative>>(how.layers.size())};
  return find_alternatives(found.problem, found.best, how);
}

/// The chosen one, as a file has it.
Mapping file_of(const MapTask& task, const MapRun& run, const MapSearch& found, const MapReport& report,
                const Alternatives& alternatives) {
  const MappedModel& chosen = report.best();
  const bool energy = task.options.objective == MapObjective::kEnergy;
  const OriginTable& table = task.module->origins();
  // The time of each kernel, split over its operators by what they compute.
  const std::vector<double> operator_us =
      found.models.subjects[report.choice.chosen]->operator_us(table.size());
  Mapping mapping;
  mapping.version = version();
  mapping.program = task.program;
  mapping.machine = report.machine;
  mapping.threads = report.threads;
  mapping.opt_level = run.build.context.passes->opt_level;
  mapping.host = task.host;
  mapping.modelled_us = energy ? 0 : chosen.modelled_us;
  const Estimate& measured = chosen.verified.us > 0 ? chosen.verified : chosen.measured;
  mapping.measured_us = energy ? chosen.serial_us : measured.us;
  for (uint32_t id = 0; id < table.size(); ++id)
    mapping.operators.push_back(
        {id, origin_label(table.at(OriginId(id))),
         chosen.backend_of[id] < 0 ? "" : report.backends[static_cast<size_t>(chosen.backend_of[id])],
         chosen.pinned ? variant_name(chosen.variant_of[id]) : "", operator_us[id],
         alternatives.by_operator[id]});
  return mapping;
}

MapResult result_of(const MapTask& task, const MapRun& run, MapSearch found, const MapPrices& prices,
                    const MapChoice& choice) {
  MapReport report = report_of(task, run, found, prices, choice);
  const Alternatives alternatives = alternatives_of(task, run, found);
  if (!alternatives.complete)
    report.notes.push_back("the alternatives of some operators were not computed: there are too many");
  if (task.machine.devices.size() > 1 && task.options.objective == MapObjective::kSerial)
    report.without_links_us = us_without_links(found.problem.problem, run.build.context.interrupt);
  report.queues = found.models.subjects[report.choice.chosen]->queues(task.device_names);
  report.mapping = file_of(task, run, found, report, alternatives);
  IRModule split = apply_mapping(task.module, report.mapping, run.build.context);
  std::vector<std::vector<int>> singles(task.backends.size()), known;
  for (size_t b = 0; b < found.models.builds.size(); ++b) {
    const std::vector<int>& whole = found.problem.whole[b];
    const size_t model = found.models.build_of[b];
    if (!whole.empty()) known.push_back(whole);
    if (report.models[model].single) singles[model] = whole;
  }
  return {.report = std::move(report),
          .priced = std::move(found.problem),
          .singles = std::move(singles),
          .known = std::move(known),
          .origins = found.models.builds.front().origins,
          .module = std::move(split)};
}

}  // namespace

MapResult map_model(const IRModule& module, const MapOptions& options) {
  const MapTask task = map_task(module, options);
  MapRun run{task.options.build};
  MapModels models = time_backends(task, run);
  MapPrices prices{price_links(task, run)};
  models = time_variants(task, run, std::move(models));
  models = time_given(task, run, std::move(models));
  prices.pieces = price_pieces(task, run, models, prices);
  MapSearch found = search_mappings(task, run, std::move(models), prices);
  if (!task.predicted() && run.partial.empty()) found = check_by_clock(task, run, std::move(found), prices);
  const MapChoice choice = choose_and_verify(task, run, found.models);
  return result_of(task, run, std::move(found), prices, choice);
}

}  // namespace baton
