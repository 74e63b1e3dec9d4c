#pragma once
// Builds of the model, each in another division over the backends, and their times.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "baton/map/model/map_report.h"
#include "baton/map/model/map_task.h"
#include "baton/map/model/subject.h"

namespace baton {

/// What was built so far.
struct MapModels {
  std::vector<MappedModel> all;                       ///< singles first, in the order of the task's backends
  std::vector<std::unique_ptr<MapSubject>> subjects;  ///< one for each of `all`; null: cannot be used
  std::vector<MeasuredBuild> builds;                  ///< those that have times
  std::vector<size_t> build_of;                       ///< by build: index into `all`
  std::vector<MeasuredBuild> portions;  ///< parts, for devices without room for all; their programs are gone
  /// The price of changes of layout by backend, where it is known.
  std::map<size_t, double> layout_us_per_byte;
  std::vector<NDArray> expected;  ///< the processor's results
  double overlap_share = 1;       ///< as MapReport has it
  int threads = 1;
};

/// Builds the model so divided, runs it, and compares its results with the processor's, which are those of
/// the first one. False: it cannot be used, and a note says why.
bool add_model(const MapTask& task, MapRun& run, MapModels& models, MappedModel model);

/// Measures those of `which` (indices) that can be used, in turn, or predicts their times. One that fails
/// meanwhile is left out; an interrupt ends it, with the times until then. Throws Error where the processor's
/// own fails.
void time_models(const MapTask& task, MapRun& run, MapModels& models, std::vector<size_t> which,
                 double seconds, const std::string& phase);

/// Measures them once more, in rounds that change neither these times nor prices: MappedModel::verified.
/// Whatever the time, there are enough rounds for an interval, unless other programs disturb nearly all of
/// them throughout: judge() keeps the single backend then.
void verify_models(const MapTask& task, MapRun& run, MapModels& models, std::vector<size_t> which,
                   double seconds);

/// Measures or predicts as time_models(), and makes prices of the times.
void price_models(const MapTask& task, MapRun& run, MapModels& models, const std::vector<size_t>& which,
                  double seconds, const std::string& phase);

}  // namespace baton
