#pragma once
// The reference kernel: a fixed program whose time shows when a machine's speed drifts, or that it is another
// one.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/campaign/make_worker.h"
#include "baton/campaign/subjects.h"
#include "baton/store/store.h"

namespace baton {

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

/// The speed of each machine of a campaign, by the reference, which is measured again and again.
class MachineSpeeds {
 public:
  struct Options {
    std::string campaign;
    double every_s = 60;  ///< from one reference run to the next
    double drift = 0.05;  ///< as CampaignOptions has it
  };
  MachineSpeeds(Store& store, const CampaignWorker& worker, const BuildContext& context, Options options);
  ~MachineSpeeds();
  MachineSpeeds(const MachineSpeeds&) = delete;
  MachineSpeeds& operator=(const MachineSpeeds&) = delete;

  /// Submits the reference to each machine where it is time for it, and jobs were submitted since.
  void ask(int64_t submitted);
  size_t asked() const { return asked_.size(); }  ///< that are not answered
  bool is_asked(const JobResult& result) const { return asked_.contains(result.id); }

  /// What came of a result that was asked for.
  struct Taken {
    int64_t rows = 0;                          ///< new ones in the store
    std::optional<ReferenceTimes> times = {};  ///< those of its machine
    std::string note = {};                     ///< why it has none, or is not believed; may be empty
  };
  /// Throws Error when it cannot be measured on this machine.
  Taken take(const JobResult& result);

  /// Empty where the machine has not answered.
  ReferenceTimes of(const std::string& machine) const;
  /// ResultFacts::slowness of the machine.
  double slowness(const std::string& machine) const;
  /// Why the machine's last reference time is not believed; empty: it is.
  std::string doubt(const std::string& machine) const;
  /// Where neighbours share caches and memory, the reference varies by more than the limit all the time: that
  /// is in the spread of each row, too.
  bool has_drifted(const ReferenceTimes& times) const;

 private:
  /// When a machine's reference was last asked for, and how many jobs had been submitted.
  struct Asked {
    int64_t at_ns = 0, submitted = 0;
  };
  /// The reference on this machine only; "": on any.
  Job job(const std::string& machine) const;
  ReferenceTimes& times_of(const std::string& machine);
  /// The one row of the reference run.
  Measurement row_of(const JobResult& result, int64_t begun_s) const;

  Store& store_;
  const CampaignWorker& worker_;
  const Options options_;
  const BuildContext context_;  ///< that of the build
  const Subject subject_;
  std::shared_ptr<const BuildResult> program_;
  std::string bundle_;
  /// What of one machine is known beside its times.
  struct Trust {
    double slowness = 1;
    std::string doubt = {};
  };
  std::map<std::string, ReferenceTimes> times_;  ///< by machine
  std::map<std::string, Trust> trust_;           ///< by machine
  /// Jobs that are not answered, by id, and since when, in seconds since 1970 and by the monotonic clock.
  struct Open {
    Job job;
    int64_t begun_s = 0, begun_ns = 0;
  };
  std::map<std::string, Open> asked_;
  std::map<std::string, Asked> asked_at_;  ///< by machine
};

}  // namespace baton
