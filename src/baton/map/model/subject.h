#pragma once
// One division of a model over the backends: built, run, and the time of each of its kernels.
#include <memory>
#include <string>
#include <vector>

#include "baton/driver/build.h"
#include "baton/map/model/price_source.h"
#include "baton/map/model/side_by_side.h"
#include "baton/map/model_problem.h"
#include "baton/map/objective.h"
#include "baton/profile/measure/measure.h"

namespace baton {

/// Whether it can be computed in variants.
bool is_layer(const OperatorRecord& record);

class MapSubject {
 public:
  /// `split`: partitioned, with weights as constants. `code`: to be run; else only planned.
  MapSubject(const IRModule& split, const BuildOptions& options, int threads, bool code);

  int threads() const { return executor_ ? executor_->threads() : threads_; }
  /// The results of one run.
  std::vector<NDArray> results() const;
  /// `objective`: how it is run beside the usual way (objective_runs.h); serial: not at all.
  MeasuredModel measured(MapObjective objective) const;

  void set_times(const FusedTimes& times);
  /// By the store, else the predictor; what neither knows is not a number. Throws NotPredicted for kernels
  /// that the predictor does not know, Error for a cost that is zero or infinite.
  void predict(const PriceSource& prices, int threads, const BuildContext& context);
  /// The sum of all kernels, without copies between devices.
  double kernels_us() const;
  /// By operator, of `operators`: how its layer is computed on the processor; kByCost: it is no layer, or is
  /// elsewhere.
  std::vector<LayerVariant> variants(size_t operators) const;
  /// A hash of all kernels of the processor: equal for builds that differ in nothing else.
  uint64_t kernels_hash() const;

  MeasuredBuild build(std::string name, const std::vector<std::string>& backends) const;
  /// Devices and links side by side, by the times of the kernels. `names`: of devices, by type.
  PlanQueues queues(const std::map<int, std::string>& names) const;
  /// By operator, of `operators`: the index of the backend whose kernels compute it; -1: none does.
  std::vector<int> owners(const std::vector<std::string>& backends, size_t operators) const;
  /// The operators in portions, kernel by kernel, whose constants, inputs and results need at most `bytes`;
  /// without those of kernels that need more by themselves.
  std::vector<std::vector<uint32_t>> portions(double bytes) const;
  /// Each kernel's time, split over its operators by their operations, of `operators` operators.
  std::vector<double> operator_us(size_t operators) const;

 private:
  BuildResult built_;
  std::unique_ptr<Executor> executor_;
  int threads_ = 0;
  bool quick_to_load_ = true;
  std::vector<double> node_us_;
};

}  // namespace baton
