#include "baton/map/model/time_backends.h"

#include <algorithm>
#include <set>

#include "baton/driver/partition_for.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/error.h"
#include "baton/text/origin_label.h"
#include "baton/transform/layout/alter_op_layout.h"

namespace baton {

namespace {

constexpr size_t kMostPortions = 8;
constexpr double kPortionSeconds = 20;  // no further one after that: simulated runs of large models are slow

std::string bytes_text(double bytes) { return std::to_string(static_cast<int64_t>(bytes)) + " bytes"; }

/// Bytes of its device's memory that a backend's kernels need in a build.
double bytes_on(const MeasuredBuild& build, size_t backend) {
  double bytes = 0;
  for (size_t n = 0; n < build.node_bytes.size(); ++n)
    if (static_cast<size_t>(build.node_backend[n]) == backend) bytes += build.node_bytes[n];
  return bytes;
}

/// Whether the last build keeps the limit that was asked for; one that does not cannot be used.
bool keeps_memory(const MapTask& task, MapRun& run, MapModels& models, size_t backend) {
  const auto asked = task.options.memory_bytes.find(task.backends[backend]);
  if (asked == task.options.memory_bytes.end()) return true;
  const double bytes = bytes_on(models.subjects.back()->build("", task.backends), backend);
  if (bytes <= asked->second) return true;
  MappedModel& model = models.all.back();
  model.why_not = "all that it takes needs " + bytes_text(bytes) + ", and it may have " +
                  bytes_text(asked->second) + " (--memory)";
  run.notes.push_back(model.name + " cannot be used: " + model.why_not);
  models.subjects.back() = nullptr;
  return false;
}

/// A device that has no room for all it takes gets the model in portions that fit, so that each has a price.
void add_portions(const MapTask& task, MapRun& run, MapModels& models, size_t backend) {
  const std::string& name = task.backends[backend];
  const double limit = task.machine.memory_limits[static_cast<size_t>(task.machine.backends[backend].device)];
  if (limit <= 0) return;
  const std::vector<std::vector<uint32_t>> portions = models.subjects.front()->portions(limit);
  if (portions.empty())
    run.notes.push_back(name + " has no room for any kernel of this model: its memory is " +
                        bytes_text(limit) + " (--memory)");
  const int64_t begin = monotonic_ns();
  size_t i = 0;
  for (; i < portions.size() && i < kMostPortions; ++i) {
    if (i > 0 && seconds_since(begin) > kPortionSeconds) break;
    MappedModel model{.name = name + ", part " + std::to_string(i + 1)};
    model.backend_of.assign(task.module->origins().size(), 0);
    for (const uint32_t id : portions[i]) model.backend_of[id] = static_cast<int>(backend);
    restrict_to_rules(task.options.rules, task.backends, model.backend_of);
    if (!add_model(task, run, models, std::move(model))) continue;
    const size_t here = models.all.size() - 1;
    time_models(task, run, models, {here},
                task.options.max_seconds * kForPrices / static_cast<double>(kMostPortions),
                "measuring portions");
    if (!models.subjects[here]) continue;  // it failed meanwhile
    models.portions.push_back(models.subjects[here]->build(models.all[here].name, task.backends));
    models.subjects[here] = nullptr;  // the next one needs its memory
  }
  if (portions.size() > i)
    run.notes.push_back(name + " was priced for the first " + std::to_string(i) + " of " +
                        std::to_string(portions.size()) + " portions of the model that fit its memory");
}

/// The first operator that the rule pins to a backend which computes it in none of the models, though the
/// processor or another backend does; nullopt: there is none.
std::optional<uint32_t> unkept_pin(const MapRule& rule, const std::vector<MappedModel>& models,
                                   size_t backend) {
  if (rule.forbids) return std::nullopt;
  const auto any = [&](uint32_t id, auto&& is_wanted) {
    return std::ranges::any_of(models, [&](const MappedModel& model) {
      return model.why_not.empty() && is_wanted(model.backend_of[id]);
    });
  };
  for (const uint32_t id : rule.operators)
    if (any(id, [](int by) { return by >= 0; }) &&
        !any(id, [&](int by) { return by == static_cast<int>(backend); }))
      return id;
  return std::nullopt;
}

/// Throws UsageError for operators that are pinned to a backend that does not take them.
void require_pins(const MapTask& task, const MapRun& run, const MapModels& models) {
  for (const MapRule& rule : task.options.rules) {
    const auto id = unkept_pin(rule, models.all, task.number_of(rule.backend));
    if (!id) continue;
    std::string why = models.all[task.number_of(rule.backend)].why_not;
    if (why.empty())
      why = taken_operators(task.module, *find_backend(rule.backend), run.build.context).at(*id).how;
    throw UsageError(rule.text + ": " + rule.backend + " does not compute " +
                     origin_label(task.module->origins().at(OriginId(*id))) +
                     (why.empty() ? "" : ": " + why));
  }
}

}  // namespace

MapModels time_backends(const MapTask& task, MapRun& run) {
  MapModels models;
  std::vector<size_t> fresh, too_large;
  for (size_t b = 0; b < task.backends.size(); ++b) {
    task.show("building for " + task.backends[b], static_cast<int>(b),
              static_cast<int>(task.backends.size()));
    MappedModel model{.name = task.backends[b], .single = true};
    model.backend_of.assign(task.module->origins().size(), static_cast<int>(b));
    restrict_to_rules(task.options.rules, task.backends, model.backend_of);
    const bool usable = add_model(task, run, models, std::move(model));
    if (b == 0 && !usable)
      throw Error("the model cannot be built for the processor: " + models.all.back().why_not);
    if (usable && keeps_memory(task, run, models, b))
      fresh.push_back(b);
    else if (usable || models.all.back().regions > 0)
      too_large.push_back(b);
  }
  // Now that the models of all backends have the numbers of these.
  for (const size_t b : too_large) add_portions(task, run, models, b);
  if (fresh.size() < 2 && models.portions.empty())
    run.notes.push_back("no other backend takes a part of this model");
  price_models(task, run, models, fresh, task.options.max_seconds * kForPrices, "measuring backends");
  require_pins(task, run, models);
  return models;
}

MapModels time_variants(const MapTask& task, MapRun& run, MapModels models) {
  const bool changes_layouts = run.build.context.passes->pass_enabled(fast_layouts()->info());
  if (!task.options.variants || !changes_layouts || !run.partial.empty()) return models;
  const size_t operators = task.module->origins().size();
  std::set<uint64_t> known{models.subjects.front()->kernels_hash()};
  std::vector<size_t> fresh;
  for (const LayerVariant each : kLayerVariants) {
    task.show("building " + variant_name(each) + " layers", static_cast<int>(fresh.size()),
              static_cast<int>(std::size(kLayerVariants)));
    MappedModel model{.name = task.host + ", " + variant_name(each), .pinned = true};
    model.backend_of.assign(operators, 0);
    model.variant_of.assign(operators, each);
    restrict_to_rules(task.options.rules, task.backends, model.backend_of);
    if (!add_model(task, run, models, std::move(model))) continue;
    if (known.insert(models.subjects.back()->kernels_hash()).second) {
      fresh.push_back(models.all.size() - 1);
      continue;
    }
    models.all.pop_back();
    models.subjects.pop_back();
  }
  price_models(task, run, models, fresh, task.options.max_seconds * kForVariants, "measuring variants");
  return models;
}

MapModels time_given(const MapTask& task, MapRun& run, MapModels models) {
  std::vector<size_t> fresh;
  for (const Mapping& mapping : task.options.also) {
    MappedModel model{.name = mapping.model};
    for (const MappedOperator& each : mapping.operators) {
      const size_t backend = task.number_of(each.backend);
      if (!each.backend.empty() && backend == task.backends.size())
        throw UsageError("--also " + mapping.model + ": " + each.backend +
                         " is not among the targets of this mapping (--targets)");
      model.backend_of.push_back(each.backend.empty() ? -1 : static_cast<int>(backend));
      model.variant_of.push_back(parse_variant(each.variant).value_or(LayerVariant::kByCost));
      model.pinned = model.pinned || model.variant_of.back() != LayerVariant::kByCost;
    }
    if (add_model(task, run, models, std::move(model))) fresh.push_back(models.all.size() - 1);
  }
  price_models(task, run, models, fresh, task.options.max_seconds * kForMappings / task.options.tries,
               "measuring mappings");
  return models;
}

}  // namespace baton
