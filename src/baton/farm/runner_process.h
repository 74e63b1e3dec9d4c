#pragma once
// A baton-runner as a child process: what crashes or hangs in a job costs that job.
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baton/farm/job/worker.h"
#include "baton/support/line_process.h"

namespace baton {

struct RunnerProcessOptions {
  std::string program = {};       ///< empty: $BATON_RUNNER, else baton-runner beside this program or in PATH
  std::string trusted_keys = {};  ///< file; empty: unsigned bundles are run too
  double wait_s = 60;             ///< for other programs to leave the machine alone
  bool under_load = false;        ///< does not wait for that
  double start_s = 30;            ///< for its greeting
  /// Then another process takes over: drivers keep what they compiled (PoCL maps every kernel, and ends its
  /// process when the system's 65,530 maps are used up, after some 275 programs).
  int most_programs = 60;
};

class RunnerProcess : public Worker {
 public:
  /// Throws Error when the runner cannot be started.
  explicit RunnerProcess(RunnerProcessOptions options = {});

  int machines() const override { return 1; }
  void submit(const Job& job) override;
  std::optional<JobResult> next(double timeout_s) override;
  std::vector<WorkerMachine> machine_list() const override { return {machine_}; }

  pid_t process_id() const { return process_.id(); }

 private:
  void start();
  void send_next();
  std::optional<JobResult> take(const std::string& line);
  std::optional<JobResult> lost();
  JobResult failed(std::string error, bool retry = false);

  const RunnerProcessOptions options_;
  WorkerMachine machine_;
  LineProcess process_;
  std::deque<Job> waiting_;
  std::optional<Job> job_;          // sent
  bool begun_ = false;              // measuring, so that its time limit counts
  double begun_s_ = 0;              // since when
  int lost_before_begin_ = 0;       // processes in a row
  std::set<std::string> programs_;  // of this process
};

/// The path of baton-runner; Error when it is nowhere.
std::string runner_program();

}  // namespace baton
