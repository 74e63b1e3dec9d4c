#pragma once
// The reference kernel: a fixed program whose time shows when a machine's speed drifts, or that it is another
// one.
#include <memory>
#include <string>
#include <vector>

#include "baton/campaign/make_worker.h"
#include "baton/campaign/subjects.h"

namespace baton {

/// A dense layer of 64 x 512 by 512, on one thread.
Subject reference_subject();

/// What the reference took on one machine in one campaign. The usual time is the median of all: the first one
/// alone may have met a machine that was slow, or unusually fast.
class ReferenceTimes {
 public:
  /// Measured before.
  void known(double us) { all_us_.push_back(us); }
  /// `counts`: nothing disturbed it.
  void add(double us, bool counts);

  double last_us() const { return last_us_; }  ///< 0: not measured yet
  double usual_us() const;                     ///< 0: not known
  double drift() const { return drift_; }      ///< relative difference of the last one from the usual time
  /// How much of it is usual on this machine: three standard deviations, by the median distance from the
  /// median; 0 while few times are known.
  double usual_drift() const;

 private:
  std::vector<double> all_us_;
  double last_us_ = 0, drift_ = 0;
};

/// What a row of it says of the machine's speed, in microseconds: the quarter of its samples that were
/// shortest were disturbed least.
double reference_us_of(const Measurement& row);

class Reference {
 public:
  Reference(const CampaignWorker& worker, const BuildContext& context);
  ~Reference();
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  /// Its rows are what the speed of a machine is judged by.
  const Subject& subject() const { return subject_; }
  const BuildResult& program() const { return *program_; }
  const BuildContext& context() const { return context_; }  ///< of the build
  /// For this machine only; "": for any.
  Job job(const std::string& machine) const;

 private:
  const CampaignWorker& worker_;
  BuildContext context_;
  Subject subject_;
  std::shared_ptr<const BuildResult> program_;
  std::string bundle_;
};

}  // namespace baton
