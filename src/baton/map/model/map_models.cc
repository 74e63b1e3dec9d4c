#include "baton/map/model/map_models.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "baton/clock/energy_counter.h"
#include "baton/predict/model/predict_options.h"
#include "baton/profile/compare/compare.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"

namespace baton {

namespace {

constexpr int kRounds = 6, kVerifyingRounds = 12;
// Mappings that could save less than this part of their time side by side say nothing about how much they do.
constexpr double kLeastHidden = 0.05;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Null, with why_not, when it cannot be used.
std::unique_ptr<MapSubject> made(const MapTask& task, MapRun& run, MappedModel& model,
                                 std::vector<NDArray>& expected) {
  const int64_t begin = monotonic_ns();
  std::unique_ptr<MapSubject> subject;
  try {
    run.build.context.stop_if_asked();
    std::vector<std::string> names;
    for (const int each : model.backend_of)
      names.push_back(each < 0 ? "" : task.backends[static_cast<size_t>(each)]);
    const IRModule split =
        apply_mapping(task.module, names, model.pinned ? model.variant_of : std::vector<LayerVariant>(),
                      task.host, run.build.context);
    for (const auto& [name, function] : split->functions())
      model.regions += function->attr("Compiler") ? 1 : 0;
    subject = std::make_unique<MapSubject>(split, run.build, task.options.threads, !task.predicted());
    if (!task.predicted()) {
      const std::vector<NDArray> results = subject->results();
      double largest = 0;
      if (expected.empty()) expected = results;
      for (size_t i = 0; i < results.size() && model.why_not.empty(); ++i)
        model.why_not = difference_of(expected[i], results[i], largest);
      if (!model.why_not.empty()) model.why_not = "its results are not the processor's: " + model.why_not;
    }
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {  // also of code generators in Python, and of drivers
    model.why_not = first_line(error.what());
  }
  run.build_s += seconds_since(begin);
  if (!model.why_not.empty()) run.notes.push_back(model.name + " cannot be used: " + model.why_not);
  return model.why_not.empty() ? std::move(subject) : nullptr;
}

/// The time by the objective, with everything side by side that can be.
double least_us(MapObjective objective, const PlanQueues& queues) {
  return objective == MapObjective::kLatency ? queues.latency_us : queues.interval_us;
}

/// How much of what could overlap really does, by the runs of all mappings so far.
void learn_overlap(const MapTask& task, MapModels& models) {
  std::vector<double> shares;
  for (size_t i = 0; i < models.subjects.size(); ++i) {
    const MappedModel& model = models.all[i];
    if (!models.subjects[i] || !model.runs_overlap) continue;
    const PlanQueues queues = models.subjects[i]->queues(task.device_names);
    const double hidden_us = queues.serial_us - least_us(task.options.objective, queues);
    if (hidden_us > kLeastHidden * queues.serial_us)
      shares.push_back(std::clamp((queues.serial_us - model.measured.us) / hidden_us, 0.0, 1.0));
  }
  if (!shares.empty()) models.overlap_share = median(shares);
}

/// How models are measured in turn.
struct TurnOptions {
  int rounds = 0, least_rounds = 1;
  double seconds = 0;
  std::string phase;
};

/// A target that failed in the middle is left out, the others go on. At least one is; throws where that is
/// the processor.
void drop_failing(const MapTask& task, MapRun& run, MapModels& models, const std::vector<size_t>& which,
                  const std::string& seen) {
  size_t dropped = 0;
  const auto drop = [&](size_t each, const std::string& why) {
    MappedModel& model = models.all[each];
    if (each == 0) throw Error("the processor's build failed while it was measured: " + why);
    model.why_not = "it failed while it was measured: " + first_line(why);
    model.measured = {};
    model.serial_us = 0;
    run.notes.push_back(model.name + " cannot be used: " + model.why_not);
    models.subjects[each] = nullptr;
    ++dropped;
  };
  for (const size_t each : which) try {
      MeasureOptions how;
      how.rounds = how.min_runs = 1;
      how.max_seconds = how.min_seconds = 1e-3;
      how.interrupt = run.build.context.interrupt;
      how.system = task.options.system;
      how.exchange = [](int) { return std::nullopt; };
      const std::vector<MeasuredModel> alone{models.subjects[each]->measured(MapObjective::kSerial)};
      measure_in_turns(alone, how);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      drop(each, error.what());
    }
  // All run again alone, so that it is not known which of them failed: what is not the processor's goes.
  for (size_t i = which.size(); i-- > 0 && dropped == 0;)
    if (which[i] != 0 && models.all[which[i]].regions > 0) drop(which[i], seen);
  if (dropped == 0) throw Error(seen);
}

/// The share of a usual run that remains by the objective, as computed. Calls for real devices are enqueued,
/// so that a usual run overlaps, too: there it is no measure of the sum of its kernels.
double objective_part(const MapTask& task, const PlanQueues& queues, double run_us) {
  const MapObjective objective = task.options.objective;
  if (queues.serial_us <= 0 || run_us <= 0 || objective == MapObjective::kSerial ||
      objective == MapObjective::kEnergy)
    return 1;
  const double whole_us = task.run_objective() == MapObjective::kSerial ? queues.serial_us : run_us;
  return least_us(objective, queues) / whole_us;
}

/// Keeps account of what was measured of the model; throws where its times are none by the objective.
void check_times(const MapTask& task, MapRun& run, MappedModel& model, const FusedTimes& times) {
  if (times.other.us > 0) {
    model.runs_overlap = task.run_objective() != MapObjective::kEnergy;
  } else if (task.options.objective == MapObjective::kEnergy) {
    throw Error("the counters of energy (" + powercap_folder() + ") did not move while the model ran");
  } else if (task.run_objective() != MapObjective::kSerial) {
    std::string note = model.name + ": there is no memory to run it with its devices side by side; " +
                       "what overlaps is computed";
    if (!std::ranges::count(run.notes, note)) run.notes.push_back(std::move(note));
  }
  if (times.interrupted) run.partial = "interrupted";
}

double objective_part(const MapTask& task, const MapModels& models, size_t which, const FusedTimes& times) {
  return objective_part(task, models.subjects[which]->queues(task.device_names), times.plain.us);
}

/// Measures these in turn. Those that fail meanwhile are left out of the models, and of `which`.
std::vector<FusedTimes> measure_models(const MapTask& task, MapRun& run, MapModels& models,
                                       std::vector<size_t>& which, const TurnOptions& turns) {
  const auto leave_out_unusable = [&] {
    std::erase_if(which, [&](size_t each) { return !models.subjects[each]; });
  };
  leave_out_unusable();
  const int64_t begin = monotonic_ns();
  std::vector<FusedTimes> times;
  while (times.empty() && !which.empty()) {
    std::vector<MeasuredModel> measured;
    for (const size_t each : which) measured.push_back(models.subjects[each]->measured(task.run_objective()));
    MeasureOptions how;
    how.rounds = turns.rounds;
    how.least_rounds = turns.least_rounds;
    how.max_seconds = turns.seconds;
    how.min_seconds = turns.seconds / static_cast<double>(which.size()) / 2;
    how.interrupt = run.build.context.interrupt;
    how.system = task.options.system;
    how.progress = [&](double done) { task.show(turns.phase, static_cast<int>(done * 100), 100); };
    try {
      times = measure_in_turns(measured, how);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      drop_failing(task, run, models, which, error.what());
      leave_out_unusable();
    }
  }
  for (size_t i = 0; i < which.size(); ++i) check_times(task, run, models.all[which[i]], times[i]);
  if (!run.partial.empty()) run.build.context.interrupt = nullptr;
  run.measure_s += seconds_since(begin);
  return times;
}

/// Microseconds per byte of a backend's changes of layout in these builds; nullopt: there are none.
std::optional<double> layout_rate(std::span<const MeasuredBuild> builds, size_t backend) {
  double us = 0, bytes = 0;
  for (const MeasuredBuild& build : builds)
    for (size_t n = 0; n < build.plan->nodes.size(); ++n) {
      const PlanNode& node = build.plan->nodes[n];
      if (!node.origins.empty() || node.kind != PlanNode::Kind::kKernel || std::isnan(build.node_us[n]))
        continue;
      if (static_cast<size_t>(build.node_backend[n]) != backend) continue;
      us += build.node_us[n];
      bytes += static_cast<double>(build.plan->entries[node.first_entry].bytes());
    }
  return bytes > 0 ? std::optional(us / bytes) : std::nullopt;
}

/// Makes prices of the model's times, if it can be used.
void add_build(const MapTask& task, MapModels& models, size_t which) {
  if (!models.subjects[which]) return;
  models.builds.push_back(models.subjects[which]->build(models.all[which].name, task.backends));
  models.build_of.push_back(which);
  for (size_t b = 0; b < task.backends.size(); ++b)
    if (const auto rate = layout_rate(models.builds, b)) models.layout_us_per_byte[b] = *rate;
}

/// What the predictor cannot tell is left out with a note, as long as it is not the processor.
void predict_models(const MapTask& task, MapRun& run, MapModels& models, const std::vector<size_t>& which) {
  for (const size_t each : which) try {
      if (models.subjects[each])
        models.subjects[each]->predict(task.options.prices, task.options.threads, run.build.context);
    } catch (const NotPredicted& error) {
      if (each == 0) throw;
      MappedModel& model = models.all[each];
      model.why_not = first_line(error.what());
      run.notes.push_back(model.name + " is left out: " + model.why_not);
      models.subjects[each] = nullptr;
    }
}

}  // namespace

bool add_model(const MapTask& task, MapRun& run, MapModels& models, MappedModel model) {
  auto subject = made(task, run, model, models.expected);
  if (subject && model.single && model.name != task.host && model.regions == 0) {
    model.why_not = "it takes no operator of this model";
    run.notes.push_back(model.name + " takes no operator of this model");
    subject = nullptr;
  }
  if (subject) {
    // What a backend does not take is the processor's.
    model.backend_of = subject->owners(task.backends, model.backend_of.size());
    model.variant_of = subject->variants(model.backend_of.size());
  }
  models.all.push_back(std::move(model));
  models.subjects.push_back(std::move(subject));
  return models.subjects.back() != nullptr;
}

void time_models(const MapTask& task, MapRun& run, MapModels& models, std::vector<size_t> which,
                 double seconds, const std::string& phase) {
  if (task.predicted()) return predict_models(task, run, models, which);
  const std::vector<FusedTimes> times =
      measure_models(task, run, models, which, {.rounds = kRounds, .seconds = seconds, .phase = phase});
  if (which.empty()) return;
  for (size_t i = 0; i < which.size(); ++i) {
    models.subjects[which[i]]->set_times(times[i]);
    models.all[which[i]].set_times(times[i], objective_part(task, models, which[i], times[i]));
  }
  learn_overlap(task, models);
  models.threads = models.subjects[which.front()]->threads();
}

void verify_models(const MapTask& task, MapRun& run, MapModels& models, std::vector<size_t> which,
                   double seconds) {
  const std::vector<FusedTimes> times = measure_models(task, run, models, which,
                                                       {.rounds = kVerifyingRounds,
                                                        .least_rounds = kFewestRounds,
                                                        .seconds = seconds,
                                                        .phase = "measuring the choice"});
  for (size_t i = 0; i < which.size(); ++i)
    models.all[which[i]].verified =
        time_by_objective(times[i], objective_part(task, models, which[i], times[i]));
}

void price_models(const MapTask& task, MapRun& run, MapModels& models, const std::vector<size_t>& which,
                  double seconds, const std::string& phase) {
  time_models(task, run, models, which, seconds, phase);
  for (const size_t each : which) add_build(task, models, each);
}

}  // namespace baton
