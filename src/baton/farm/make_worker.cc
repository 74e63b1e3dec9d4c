#include "baton/farm/make_worker.h"

#include "baton/farm/runner_process.h"
#include "baton/support/error.h"

namespace baton {

std::unique_ptr<Worker> make_worker(const FarmOptions& options) {
  if (options.on == "local") {
    RunnerProcessOptions local;
    local.program = options.runner;
    local.trusted_keys = options.trusted_keys;
    local.wait_s = options.wait_s;
    local.under_load = options.under_load;
    return std::make_unique<RunnerProcess>(std::move(local));
  }
  const std::string& on = options.on;
  if (on.starts_with("ssh://") || on.starts_with("dask://") || on == "slurm" || on.starts_with("slurm?"))
    return std::make_unique<FarmWorker>(options);
  throw UsageError("--on " + on + ": give local, ssh://HOST,..., dask://SCHEDULER:PORT or slurm");
}

}  // namespace baton
