#pragma once
// Where a campaign measures: --on.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "baton/driver/build_result.h"
#include "baton/farm/make_worker.h"
#include "baton/support/base/ndarray.h"

namespace baton {

/// A worker, and how programs come to it.
struct CampaignWorker {
  std::unique_ptr<Worker> worker;
  /// Makes a built program available under a name; returns what Job::bundle says. `reference`: outputs that
  /// it must have; empty: those of a run here. Throws Error.
  std::function<std::string(const std::string& name, std::shared_ptr<const BuildResult> program,
                            const std::vector<NDArray>& reference)>
      add;
  std::function<void(const std::string& bundle)> remove;  ///< it is not needed any more
  bool here = false;  ///< on this machine: its peaks and the inside of its kernels can be measured, too
};

/// `options.on`: "local" (a runner process on this machine) or a place of make_worker; programs are bundles
/// in a temporary folder. Throws UsageError for other places, Error when there is no such place.
CampaignWorker campaign_worker(FarmOptions options);

}  // namespace baton
