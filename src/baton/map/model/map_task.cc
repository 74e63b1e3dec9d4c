#include "baton/map/model/map_task.h"

#include <algorithm>

#include "baton/clock/energy_counter.h"
#include "baton/driver/partition_for.h"
#include "baton/ir/structural.h"
#include "baton/profile/compare/compare.h"
#include "baton/profile/report/device_rates.h"
#include "baton/runtime/baton_backend.h"
#include "baton/support/error.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

// Times beyond which a change of layout costs nothing.
constexpr MappingConversion kUsualLayout{0.3, 1e-4};

void add_backend(MapTask& task, const std::string& name, int device_type) {
  const BuildContext& context = task.options.build.context;
  const std::map<std::string, double>& limits = task.options.memory_bytes;
  MappedBackend backend{name, 0, kUsualLayout};
  const bool own_memory = device_type != context.host().device_type;
  task.device_names.emplace(device_type, own_memory ? name : "cpu");
  if (own_memory) {
    backend.device = static_cast<int>(task.machine.devices.size());
    task.machine.devices.push_back(name);
    const DeviceSheet* sheet = context.sheet_of(find_backend(name)->kind);
    const auto asked = limits.find(name);
    task.machine.memory_limits.push_back(asked != limits.end() ? asked->second
                                         : sheet               ? static_cast<double>(sheet->memory_bytes)
                                                               : 0);
  } else if (limits.count(name)) {
    throw UsageError("--memory " + name + ": it computes in the memory of the processor; limits are for " +
                     "devices with memory of their own");
  }
  task.machine.backends.push_back(backend);
  task.backends.push_back(name);
}

void find_backends(MapTask& task) {
  const BuildContext& context = task.options.build.context;
  std::vector<std::string> names{task.host};
  for (const std::string& name : task.options.backends)
    if (std::ranges::count(names, name) == 0) names.push_back(name);
  if (names.size() < 2)
    throw UsageError("a mapping needs two backends at least: --targets llvm,dnnl (baton targets lists them)");
  task.machine.devices = {"cpu"};
  task.machine.memory_limits = {0};
  for (const std::string& name : names) {
    const BackendRef record = task.predicted() ? find_backend(name) : nullptr;
    const int device_type = !record                ? compared_backend(name, context).device_type
                            : record->kind.empty() ? context.host().device_type
                                                   : record->device_type;
    add_backend(task, name, device_type);
  }
}

void check_energy(const MapTask& task) {
  if (task.predicted())
    throw UsageError("--objective energy: energy is measured, predictors know times only");
  if (task.any_simulated()) throw UsageError("--objective energy: simulated devices use none");
  EnergyCounter counter;  // throws where there is none
}

}  // namespace

bool MapTask::any_simulated() const { return device_names.rbegin()->first >= BATON_FIRST_SIMULATED_KIND; }

MapObjective MapTask::run_objective() const {
  return predicted() || any_simulated() ? MapObjective::kSerial : options.objective;
}

size_t MapTask::number_of(const std::string& backend) const {
  return static_cast<size_t>(std::ranges::find(backends, backend) - backends.begin());
}

MapTask map_task(const IRModule& module, const MapOptions& options) {
  MapTask task{.options = options,
               .program = program_hash(module),
               .module = bind_params(infer_types(module->copy()), options.build.params),
               .host = backend_of_kind(options.build.context.host().kind)->name};
  task.options.build.params.clear();
  if (task.predicted() && !options.prices.any())
    throw UsageError("without measuring, costs come from a predictor or a store: give one of them");
  find_backends(task);
  if (options.objective == MapObjective::kEnergy) check_energy(task);
  check_rules(options.rules, task.backends, task.module->origins());
  return task;
}

}  // namespace baton
