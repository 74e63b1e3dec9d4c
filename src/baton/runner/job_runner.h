#pragma once
// Measures one bundle in this process.
#include <functional>
#include <string>
#include <vector>

#include "baton/farm/job/bundle_files.h"
#include "baton/farm/job/worker.h"

namespace baton {

struct RunnerOptions {
  std::vector<std::string> trusted_keys;  ///< public keys; empty: unsigned bundles are run too
  double wait_s = 60;                     ///< for other programs to leave the machine alone
  bool under_load = false;                ///< does not wait
  std::string lock;                       ///< file; empty: the machine's
};

class JobRunner {
 public:
  explicit JobRunner(RunnerOptions options);

  const WorkerMachine& machine() const { return machine_; }
  /// Waits for the machine's lock, and for other load to end. `begun`: called when measuring begins, which is
  /// when the job's time limit starts. Never throws: what goes wrong is the result's error.
  JobResult run(const Job& job, const std::function<void()>& begun);

 private:
  BundleFiles accept(const std::string& folder, JobResult& result) const;
  void measure(const Job& job, const BundleFiles& bundle, JobResult& result);
  std::string wait_for_quiet();

  const RunnerOptions options_;
  WorkerMachine machine_;
  bool was_loaded_ = true;  // by others, when it was last seen
};

}  // namespace baton
