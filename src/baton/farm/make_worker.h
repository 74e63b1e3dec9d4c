#pragma once
// The worker that `--on` names.
#include <memory>

#include "baton/farm/farm_worker.h"
#include "baton/farm/job/worker.h"

namespace baton {

/// `options.on`: "local" (a baton-runner on this machine), "ssh://HOST,...", "dask://SCHEDULER:PORT" or
/// "slurm?jobs=N". Throws UsageError for anything else, Error when there is no such place.
std::unique_ptr<Worker> make_worker(const FarmOptions& options);

}  // namespace baton
