#pragma once
// What is to be mapped and onto what, as all steps of map_model() take it; and what they say of their work.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "baton/clock/disturbance.h"
#include "baton/driver/build.h"
#include "baton/driver/mapping/mapping.h"
#include "baton/map/model/price_source.h"
#include "baton/map/model/rules.h"
#include "baton/map/model_problem.h"
#include "baton/map/objective.h"

namespace baton {

/// Parts of the time for measuring: each backend at first, variants, each new mapping, all of them to choose
/// one, and that one beside the best single backend.
inline constexpr double kForPrices = 0.3, kForVariants = 0.1, kForMappings = 0.2, kForChoice = 0.2,
                        kForVerifying = 0.2;

struct MapOptions {
  BuildOptions build;                 ///< level, config, cache, interrupt; params: weights of the model
  std::vector<std::string> backends;  ///< the processor's own is added where it is missing
  MapObjective objective = MapObjective::kSerial;
  std::vector<MapRule> rules;
  std::map<std::string, double> memory_bytes;  ///< limits, by backend; else what its sheet says
  int max_regions = 0;                         ///< 0: any number
  int threads = 0;                             ///< of the runs; 0: the default of all runs
  double max_seconds = 60;                     ///< for measuring; compiling does not count
  int tries = 4;                               ///< mappings that are built and measured, at most
  std::vector<Mapping> also;                   ///< measured beside what is found; `model` is their name
  /// Prices of parts of fused groups; without `measures`, of everything.
  PriceSource prices = {};
  bool measures = true;  ///< else nothing is compiled or run, and all costs are those of `prices`
  bool variants = true;  ///< layers of the processor in other layouts and by other algorithms, too
  SystemSource system = read_system;
  std::function<void(const std::string& phase, int done, int total)> progress = {};
};

struct MapTask {
  MapOptions options;                            ///< without the weights, which are in `module`
  uint64_t program;                              ///< its hash, as it was given
  IRModule module;                               ///< typed
  std::string host;                              ///< the processor's backend
  std::vector<std::string> backends = {};        ///< names; the processor's own first
  ModelPrices machine = {};                      ///< backends, devices and their limits of memory
  std::map<int, std::string> device_names = {};  ///< by type

  bool predicted() const { return !options.measures; }
  bool any_simulated() const;
  /// The one by which builds are run. Simulated time does not pass: there kernels are timed alone, and what
  /// overlaps is computed.
  MapObjective run_objective() const;
  /// As large as `backends`: the name is none of them.
  size_t number_of(const std::string& backend) const;
  void show(const std::string& phase, int done, int total) const {
    if (options.progress) options.progress(phase, done, total);
  }
};

/// Throws, before anything is built, UsageError for options that contradict each other or the machine.
MapTask map_task(const IRModule& module, const MapOptions& options);

/// The course of the work: what steps add to while they work.
struct MapRun {
  /// The options of all builds. They lose their interrupt once it ended the measuring: what was found until
  /// then is still brought to an end.
  BuildOptions build;
  std::vector<std::string> notes = {};
  double search_s = 0, build_s = 0, measure_s = 0;
  std::string partial = {};  ///< "interrupted"; else empty
};

}  // namespace baton
