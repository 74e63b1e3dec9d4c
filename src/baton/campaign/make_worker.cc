#include "baton/campaign/make_worker.h"

#include "baton/support/error.h"

namespace baton {

CampaignWorker make_worker(const std::string& on, const InProcessOptions& options) {
  if (on != "local") throw UsageError("--on: there is no place \"" + on + "\" to measure on; use local");
  auto worker = std::make_unique<InProcessWorker>(options);
  InProcessWorker* here = worker.get();
  CampaignWorker made;
  made.add = [here](const std::string& name, std::shared_ptr<const BuildResult> program) {
    here->add(name, std::move(program));
    return name;
  };
  made.remove = [here](const std::string& bundle) { here->remove(bundle); };
  made.worker = std::move(worker);
  made.in_process = true;
  return made;
}

}  // namespace baton
