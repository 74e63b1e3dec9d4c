#pragma once
// Many machines behind the farm's process (python/baton/farm).
#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "baton/farm/job/worker.h"
#include "baton/support/line_process.h"

namespace baton {

struct FarmOptions {
  std::string on;                 ///< "ssh://a,b", "dask://host:8786", "slurm?jobs=4"
  std::string python = {};        ///< empty: $BATON_PYTHON, else python3
  std::string runner = {};        ///< baton-runner on the machines; empty: $BATON_RUNNER or PATH there
  std::string trusted_keys = {};  ///< file; empty: unsigned bundles are run too
  std::string tls_ca_file = {}, tls_cert = {}, tls_key = {};
  double wait_s = 60;                            ///< for other programs to leave a machine alone
  bool under_load = false;                       ///< does not wait for that
  double worker_wait_s = 60;                     ///< for machines to come
  std::string secret_key = {};                   ///< signs what is sent there; empty: not signed
  const std::atomic<bool>* interrupt = nullptr;  ///< ends the wait for machines
};

class FarmWorker : public Worker {
 public:
  /// Returns when there is a machine. Throws Error when there is none in time, and without a scheduler;
  /// Interrupted.
  explicit FarmWorker(const FarmOptions& options);

  int machines() const override { return static_cast<int>(machines_.size()); }
  int places() const override;
  void submit(const Job& job) override;
  std::optional<JobResult> next(double timeout_s) override;
  std::vector<WorkerMachine> machine_list() const override { return machines_; }

 private:
  std::optional<JobResult> take(const std::string& line);

  LineProcess process_;
  std::vector<WorkerMachine> machines_;
  std::set<std::string> open_;  // ids of jobs without a result
};

}  // namespace baton
