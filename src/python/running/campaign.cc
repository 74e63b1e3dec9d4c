// Campaigns of measurements.
#include "baton/campaign/campaign.h"

#include <exception>

#include "baton/campaign/programs.h"
#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/farm/job/signature.h"

#include "python/casters.h"
#include "python/door.h"
#include "python/running/interruptible.h"

namespace baton::python {

namespace {

/// Returns CampaignReport as JSON. `progress(phase, done, total, seconds left or None)`; what it raises ends
/// the campaign and goes on to the caller. An interrupt ends it, too: the report says so.
std::string measure(const std::string& design_text, const std::string& path, const std::string& campaign,
                    bool retry_failed, double max_seconds, const std::string& on,
                    const std::map<std::string, std::string>& files, double wait_s, double worker_wait_s,
                    const nb::object& progress) {
  read_environment();
  initialize();
  const Design design = design_from_json(design_text);
  check_design(design);
  CampaignOptions options;
  options.name = campaign;
  options.max_seconds = max_seconds;
  options.wait_s = wait_s;
  options.retry_failed = retry_failed;
  options.context = host_context();
  add_simulated_devices(options.context, design.backends);
  std::exception_ptr raised;
  std::atomic<bool> stop_now{false};
  std::string report = interruptible([&](const std::atomic<bool>* stop) {
    options.context.interrupt = &stop_now;
    options.progress = [&, stop](const CampaignProgress& now) {
      if (*stop) stop_now = true;
      if (progress.is_none() || stop_now) return;
      const nb::gil_scoped_acquire lock;
      try {
        progress(now.phase, now.done, now.total, now.seconds_left);
      } catch (...) {
        raised = std::current_exception();
        stop_now = true;
      }
    };
    FarmOptions place;
    place.on = on;
    place.wait_s = wait_s;
    place.worker_wait_s = worker_wait_s;
    place.interrupt = stop;
    for (const auto& [name, field] : {std::pair{"python", &FarmOptions::python},
                                      {"runner", &FarmOptions::runner},
                                      {"tls_ca_file", &FarmOptions::tls_ca_file},
                                      {"tls_cert", &FarmOptions::tls_cert},
                                      {"tls_key", &FarmOptions::tls_key}})
      if (const auto at = files.find(name); at != files.end()) place.*field = at->second;
    if (const auto key = files.find("key"); key != files.end())
      place.secret_key = read_secret_key(key->second);
    const CampaignWorker worker = campaign_worker(place);
    Store store = Store::open(path, Store::Mode::kWrite);
    return campaign_json(run_campaign(store, design, worker, options));
  });
  if (raised) std::rethrow_exception(raised);
  return report;
}

}  // namespace

void bind_campaign(nb::module_& m) {
  m.def("measure", &measure, nb::arg("design"), nb::arg("store"), nb::arg("campaign"),
        nb::arg("retry_failed"), nb::arg("max_seconds"), nb::arg("on"), nb::arg("files"), nb::arg("wait_s"),
        nb::arg("worker_wait_s"), nb::arg("progress").none(),
        "Measures what a design (JSON) names into a store; see baton.measure.");
}

}  // namespace baton::python
