#pragma once
// What a mapping came to: the ways to compute the model that were tried, with their costs, and the one that
// is kept.
#include <optional>
#include <string>
#include <vector>

#include "baton/driver/mapping/mapping.h"
#include "baton/map/model/side_by_side.h"
#include "baton/map/objective.h"
#include "baton/profile/measure/fused_times.h"

namespace baton {

/// A way to compute the model. Costs by the objective are microseconds; those by energy are microjoules.
struct MappedModel {
  std::string name;     ///< "dnnl": all that it takes; "mapping 1"
  bool single = false;  ///< one backend, and the processor for what it does not take
  std::vector<int> backend_of =
      {};               ///< by operator: index into MapReport::backends; -1: no kernel computes it
  bool pinned = false;  ///< its layers are computed as `variant_of` says, else as the build chooses
  std::vector<LayerVariant> variant_of = {};  ///< by operator: of layers on the processor
  size_t regions = 0;
  double modelled_us = 0;     ///< by the objective and the prices; 0: not modelled
  Estimate measured = {};     ///< by the objective, in the rounds that choose; `us` is 0: not measured
  Estimate verified = {};     ///< the same in rounds of their own, after the choice (choose.h)
  double computed_us = 0;     ///< by the objective, from kernels timed one after the other; 0: not measured
  double serial_us = 0;       ///< measured, one thing after the other
  bool runs_overlap = false;  ///< `measured` is of runs with queues side by side
  std::string why_not = {};   ///< it cannot be used: it does not compile, or its results are wrong

  /// Whether both give every operator to the same backend, and compute layers alike. Operators without a
  /// kernel do not count.
  bool is_same(const MappedModel& other) const;
  /// Sets the times of the rounds that choose. `part`: of a run, as time_by_objective() takes it.
  void set_times(const FusedTimes& times, double part);
};

/// FusedTimes::other where the model was run so, else the given part of a plain run.
Estimate time_by_objective(const FusedTimes& times, double part);

/// Which model is kept, by index.
struct MapChoice {
  size_t chosen = 0, best_single = 0;
  /// Of the speed-up, relative: in 95 of 100 cases another process finds it within. Nullopt: not measured.
  std::optional<double> plus_minus = {};
};

struct MapLink {
  std::string from, to;
  double latency_us = 0, gbytes_per_s = 0;
};

struct MapReport {
  std::string model, machine;
  int threads = 1;
  MapObjective objective = MapObjective::kSerial;
  std::vector<std::string> backends;  ///< the processor's own first; those that take something
  std::vector<std::string> notes;
  std::vector<MapLink> links;
  std::vector<MappedModel> models;  ///< singles first, in the order of `backends`
  MapChoice choice;
  bool predicted = false;
  bool overlap_measured = false;  ///< times by the objective are those of runs side by side; else computed
  double bound_us = 0;            ///< no mapping is faster, by the model
  double overlap_share = 1;  ///< of the time that queues side by side could save; 1 where it is not measured
  PlanQueues queues;         ///< of the chosen mapping, by the times of its kernels
  double without_links_us = 0;  ///< by the model: of the mapping that is best where copies cost nothing
  std::string method;           ///< of the search
  double search_s = 0, build_s = 0, measure_s = 0;
  std::string partial;  ///< "interrupted"; else empty
  Mapping mapping;      ///< the chosen one

  const MappedModel& best() const { return models[choice.chosen]; }
  const MappedModel& best_single() const { return models[choice.best_single]; }
  /// The chosen one's over the best single backend: by the rounds measured after the choice, or, predicted,
  /// by modelled times. By energy: what that backend needs over what the chosen one needs. 1 where they are
  /// the same one.
  double speedup() const;

  /// A note where other programs ran beside the measurements.
  void note_load();
};

}  // namespace baton
