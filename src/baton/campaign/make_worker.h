#pragma once
// Where a campaign measures: --on.
#include <functional>
#include <memory>
#include <string>

#include "baton/campaign/in_process_worker.h"

namespace baton {

/// A worker, and how programs come to it.
struct CampaignWorker {
  std::unique_ptr<Worker> worker;
  /// Makes a built program available under a name; returns what Job::bundle says.
  std::function<std::string(const std::string& name, std::shared_ptr<const BuildResult> program)> add;
  std::function<void(const std::string& bundle)> remove;  ///< it is not needed any more
  bool in_process = false;  ///< programs can be looked at here, too: the inside of their kernels
};

/// "local": this process. Throws UsageError for other places.
CampaignWorker make_worker(const std::string& on, const InProcessOptions& options);

}  // namespace baton
