#include "baton/campaign/make_worker.h"

#include <filesystem>

#include "baton/farm/bundle.h"
#include "baton/support/base/files.h"
#include "baton/support/require.h"

namespace baton {

CampaignWorker campaign_worker(FarmOptions options) {
  CampaignWorker made;
  made.here = options.on == "local";
  // The campaign waits by itself, before it measures several programs.
  if (made.here || options.wait_s <= 0) options.under_load = true;
  made.worker = make_worker(options);
  const auto folder = std::make_shared<TemporaryFolder>();
  require(folder->create("campaign"));
  made.add = [folder, key = options.secret_key](const std::string& name,
                                                const std::shared_ptr<const BuildResult>& program,
                                                const std::vector<NDArray>& reference) {
    BundleOptions bundle;
    bundle.model = name;
    bundle.reference = reference;
    bundle.secret_key = key;
    write_bundle(*program, folder->path(name), bundle);
    return folder->path(name);
  };
  made.remove = [folder](const std::string& bundle) {
    std::error_code ignored;
    std::filesystem::remove_all(bundle, ignored);
  };
  return made;
}

}  // namespace baton
