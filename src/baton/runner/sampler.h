#pragma once
// Takes the samples of one job: its states of the caches in turn, until each has enough.
#include <memory>
#include <vector>

#include "baton/farm/job/worker.h"
#include "baton/profile/conditions/clock_watch.h"
#include "baton/profile/conditions/disturbance.h"
#include "baton/runner/evict.h"
#include "baton/runtime/executor.h"

namespace baton {

class Sampler {
 public:
  /// `system`: what the machine does meanwhile; replaced in tests.
  Sampler(Executor& executor, const Protocol& protocol, const DeviceSheet& sheet,
          SystemSource system = read_system);

  /// Throws Error when a kernel fails, or when no sample could be timed.
  std::vector<JobRow> run();

  /// Everything that happened on the machine meanwhile.
  const Disturbance& disturbed_by() const { return sum_; }

 private:
  struct Series {
    std::string node;
    std::vector<double> us;
    std::vector<bool> disturbed;
    size_t judged = 0;  ///< samples before this one have their window's verdict
  };
  /// One state of the caches: the samples of the whole program, and for kInModel those of its kernels.
  struct Phase {
    CacheState cache;
    int calls = 1;
    Series whole;
    std::vector<Series> nodes;
  };

  void warm_up();
  void add_samples(Phase& phase);
  double timed_run();
  void sample(Phase& phase, int calls);
  void sample_nodes(Phase& phase);
  bool enough(const Phase& phase) const;
  bool all_enough() const;
  void judge();
  JobRow row_of(const Phase& phase, const Series& series) const;

  Executor& executor_;
  const Protocol protocol_;
  const SystemSource system_;
  ClockWatch watch_;
  std::unique_ptr<Evictor> evictor_;
  std::vector<Phase> phases_;
  SystemReading window_;
  int64_t window_begin_ns_ = 0;
  Disturbance sum_;
  double usual_us_ = 0;  // of one call
  double load_ = 0;      // of the system, before
  bool simulated_ = false, several_ = false;
};

}  // namespace baton
