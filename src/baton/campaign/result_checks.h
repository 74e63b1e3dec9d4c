#pragma once
// Whether what a worker reports can be true: a runner, perhaps on another machine, is not believed blindly.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "baton/farm/job/worker.h"
#include "baton/runtime/plan.h"
#include "baton/store/measurement.h"

namespace baton {

/// Why a result is not believed; empty: it is.
struct ResultDoubt {
  std::string why;
  bool is_certain = false;  ///< it cannot be true; else a second look decides
  explicit operator bool() const { return !why.empty(); }
};

/// The machines that a worker has had, by name.
class KnownMachines {
 public:
  void add(const std::vector<WorkerMachine>& machines);
  /// Why the result is of none of them, or of another than the job was for; empty: it is not.
  std::string why_not(const Job& job, const JobResult& result) const;

 private:
  std::map<std::string, DeviceSheet> sheets_;
  bool any_unnamed_ = false;  ///< then every name may be one
};

/// What a result is compared with.
struct ResultFacts {
  const Job* job = nullptr;
  const Plan* plan = nullptr;
  double elapsed_s = 0;  ///< from the job's submission to its result
  /// So many times as long as its sheet lets expect takes the reference kernel on that machine; 1: not known.
  double slowness = 1;
};

/// By the plan and the clock on the wall, and of `rows`, which were made of the result, by their own samples
/// and by what their work takes at least and at most on their device. Simulated times are exact.
ResultDoubt doubt_of(const JobResult& result, std::span<const Measurement> rows, const ResultFacts& facts);

/// ResultFacts::slowness by a row of the reference kernel, at least 1.
double slowness_of(const Measurement& reference);
/// Why the reference kernel's row cannot be of the device that it names; empty: it can.
std::string why_other_device(const Measurement& reference);

/// Whether both looks have the same rows, with times that differ by less than half.
bool agree(const JobResult& first, const JobResult& second);

}  // namespace baton
