#pragma once
// Measures in this process: no isolation, so that a kernel that crashes or hangs takes the campaign with it,
// but nothing to start either.
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "baton/driver/build_result.h"
#include "baton/farm/job/machine_lock.h"
#include "baton/farm/job/worker.h"

namespace baton {

struct InProcessOptions {
  const std::atomic<bool>* interrupt = nullptr;
  std::function<void(double waited_s)> waiting = {};  ///< another process measures on this machine
};

class InProcessWorker final : public Worker {
 public:
  explicit InProcessWorker(InProcessOptions options) : options_(std::move(options)) {}

  /// Its programs are not folders: `name` stands for one in Job::bundle.
  void add(const std::string& name, std::shared_ptr<const BuildResult> program) {
    programs_[name] = std::move(program);
  }
  void remove(const std::string& name) { programs_.erase(name); }

  int machines() const override { return 1; }
  void submit(const Job& job) override { jobs_.push_back(job); }
  /// Measures the job submitted first; throws Interrupted.
  std::optional<JobResult> next(double timeout_s) override;

 private:
  InProcessOptions options_;
  std::unique_ptr<MachineLock> lock_;  // from the first job on
  std::map<std::string, std::shared_ptr<const BuildResult>> programs_;
  std::deque<Job> jobs_;
};

}  // namespace baton
