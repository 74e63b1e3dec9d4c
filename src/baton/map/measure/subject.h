#pragma once
// One division of a model over the backends: built, run, and the time of each of its kernels.
#include <memory>
#include <string>
#include <vector>

#include "baton/driver/build.h"
#include "baton/map/model_problem.h"
#include "baton/predict/predictor.h"
#include "baton/profile/measure/measure.h"

namespace baton {

class MapSubject {
 public:
  /// `split`: partitioned, with weights as constants. `code`: to be run; else only planned.
  MapSubject(const IRModule& split, const BuildOptions& options, int threads, bool code);

  size_t regions() const { return regions_; }
  int threads() const { return executor_ ? executor_->threads() : threads_; }
  /// Of one run.
  std::vector<NDArray> results() const;
  MeasuredModel measured() const;

  void set_times(const FusedTimes& times);
  /// Throws Error for a kernel whose backend the predictor does not know.
  void predict(const Predictor& predictor, int threads, const BuildContext& context);

  MeasuredBuild build(std::string name, const std::vector<std::string>& backends) const;
  /// Each kernel's time, split over its operators by their operations, of `operators` operators.
  std::vector<double> operator_us(size_t operators) const;

 private:
  BuildResult built_;
  std::unique_ptr<Executor> executor_;
  size_t regions_ = 0;
  int threads_ = 0;
  bool quick_to_load_ = true;
  std::vector<double> node_us_;
};

}  // namespace baton
