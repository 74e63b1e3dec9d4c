#include "baton/campaign/run_measure.h"

#include <algorithm>

#include "baton/campaign/programs.h"
#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/farm/job/signature.h"
#include "baton/profile/compare/offload.h"
#include "baton/support/base/files.h"
#include "baton/support/error.h"

namespace baton {

namespace {

std::string text_of(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text.ok()) throw Error(path + ": cannot be read: " + text.status().message);
  return std::move(*text);
}

Design given_design(const MeasureCommand& command) {
  if (command.design_file.empty()) return design_from_json(command.design);
  const Json json = Json::parse_or_discard(text_of(command.design_file));
  try {
    return design_from_json(json);
  } catch (const UsageError& error) {
    throw UsageError("--design " + command.design_file + ": " + error.what());
  }
}

/// Each once, in the order of their first.
template <class T>
std::vector<T> distinct(const std::vector<T>& all) {
  std::vector<T> found;
  for (const T& each : all)
    if (std::ranges::find(found, each) == found.end()) found.push_back(each);
  if constexpr (std::is_same_v<T, std::string>) std::erase(found, "");
  return found;
}

std::vector<CacheState> states_of(const std::vector<std::string>& names) {
  std::vector<CacheState> states;
  for (const std::string& name : distinct(names)) {
    const std::optional<CacheState> state = cache_state_named(name);
    if (!state || *state == CacheState::kInModel)
      throw UsageError("--cache: " + name + " is neither hot nor flushed");
    states.push_back(*state);
  }
  return states;
}

std::map<std::string, double> weights_of(const std::string& path) {
  try {
    return Json::parse_or_discard(text_of(path)).get<std::map<std::string, double>>();
  } catch (const JsonError&) {
    throw UsageError(path + ": is no JSON object of numbers by operator, {\"nn.conv2d\": 3}");
  }
}

BuildContext context_of(const MeasureCommand& command, const Design& design) {
  BuildContext context = host_context();
  context.interrupt = command.interrupt;
  add_simulated_devices(context, design.backends);
  for (const std::string& name : design.backends) compared_backend(name, context);
  return context;
}

}  // namespace

void MeasureCommand::add(Flags& flags) {
  flags.option("design", &design_file,
               "a JSON file that says what to measure (docs/guide.md); flags override it");
  flags.option("families", &families, "all, or resnet,vgg,...: random variations of these families");
  flags.option("variations", &variations, "of each family").show_default().range(0, 100000);
  flags.option("patterns", &patterns, "operators and fused functions, with sizes like those in models")
      .range(0, 1000000);
  flags.list("transfers", &transfers, "4096,1048576: copies of so many bytes to each other device and back");
  flags.list("backends", &backends, "llvm,dnnl,opencl,sim_npu,...: each is measured (default: llvm)");
  flags.list("threads", &threads, "1,2: each is measured (default: 1)");
  flags.option("opt-level", &opt_level, "of the builds (default: 3)").range(0, 4);
  flags.list("cache", &caches, "hot,flushed: what the caches hold before a run (default: hot)")
      .in_python("caches");
  flags.flag("inside", &inside, "the parts of kernels, too");
  flags.option("uncertainty", &uncertainty,
               "a JSON file, {\"nn.conv2d\": 3, ...}: patterns with this operator are drawn more often");
  flags.option("store", &store, "the file that rows go to (default: $BATON_STORE, else in the user's cache)");
  flags.option("campaign", &campaign.name, "its name: the same one goes on where it ended").show_default();
  flags.option("seed", &seed, "of what is drawn, and of the order").range(0, 1e9);
  flags
      .option("max-hours", &max_hours,
              "ends after so long; the same command goes on (default: when everything is measured)")
      .range(0.0, 1e4);
  flags.option("on", &place.on, "where to measure: local, ssh://HOST,..., dask://SCHEDULER:PORT, slurm")
      .show_default();
  flags.option("worker-wait", &place.worker_wait_s, "longest wait for a machine of --on to come, seconds")
      .show_default()
      .range(0.0, 1e6);
  flags.option("runner", &place.runner, "baton-runner on the machines of --on (default: in PATH there)");
  flags.option("key", &key, "a secret key's file (`bundle keygen`): signs what is sent to machines");
  flags.option("tls-ca-file", &place.tls_ca_file,
               "--on over TLS, as options of `dask worker`: whom to trust");
  flags.option("tls-cert", &place.tls_cert, "the certificate's file");
  flags.option("tls-key", &place.tls_key, "its key's file");
  flags.option("wait", &place.wait_s, "longest wait for other programs to leave the machine alone, seconds")
      .show_default()
      .range(0.0, 1e6);
  flags.flag("retry-failed", &campaign.retry_failed, "try again what has failed before");
}

std::string MeasureCommand::store_path() const { return store.empty() ? default_store_path() : store; }

Design measured_design(const MeasureCommand& command) {
  initialize();
  Design design = given_design(command);
  design.models.insert(design.models.end(), command.models.begin(), command.models.end());
  if (!command.families.empty()) design.families = families_named(command.families, command.variations);
  if (command.patterns) design.patterns = *command.patterns;
  if (command.inside) design.inside = true;
  if (command.seed) design.seed = static_cast<uint64_t>(*command.seed);
  if (!command.backends.empty()) design.backends = distinct(command.backends);
  if (!command.threads.empty()) design.threads = distinct(command.threads);
  if (command.opt_level) design.opt_level = *command.opt_level;
  if (!command.transfers.empty()) design.transfer_bytes = distinct(command.transfers);
  if (!command.caches.empty()) design.caches = states_of(command.caches);
  if (!command.uncertainty.empty()) design.uncertainty = weights_of(command.uncertainty);
  check_design(design);
  return design;
}

CampaignPlan plan_measure(const MeasureCommand& command, const Design& design) {
  return plan_campaign(design, context_of(command, design));
}

CampaignReport run_measure(const MeasureCommand& command) {
  const Design design = measured_design(command);
  CampaignOptions options = command.campaign;
  options.context = context_of(command, design);
  options.progress = command.progress;
  options.wait_s = command.place.wait_s;
  if (command.max_hours.value_or(0) > 0) options.max_seconds = *command.max_hours * 3600;
  FarmOptions place = command.place;
  place.interrupt = command.interrupt;
  if (!command.key.empty()) place.secret_key = read_secret_key(command.key);
  const CampaignWorker worker = campaign_worker(place);
  Store store = Store::open(command.store_path(), Store::Mode::kWrite);
  return run_campaign(store, design, worker, options);
}

}  // namespace baton
