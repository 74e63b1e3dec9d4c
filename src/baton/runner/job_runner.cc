#include "baton/runner/job_runner.h"

#include <algorithm>
#include <exception>

#include "baton/clock/quiet.h"
#include "baton/farm/job/expectations.h"
#include "baton/farm/job/machine_lock.h"
#include "baton/farm/measure/measure_job.h"
#include "baton/runtime/model.h"
#include "baton/runtime/plugin.h"
#include "baton/support/require.h"
#include "baton/target/machine_name.h"

namespace baton {
namespace {

constexpr double kMostPauseS = 10;  // of a job, for a core that another virtual machine shares

// Those that can be loaded; whether their devices are there is another question.
std::vector<std::string> usable_plugins() {
  std::vector<std::string> names = Plugin::installed();
  std::erase_if(names, [](const std::string& name) { return !Plugin::find(name).ok(); });
  return names;
}

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace

JobRunner::JobRunner(RunnerOptions options) : options_(std::move(options)) {
  machine_ = {machine_name(), DeviceSheet::host(), usable_plugins()};
}

JobResult JobRunner::run(const Job& job, const std::function<void()>& begun) {
  JobResult result;
  result.id = job.id;
  result.device = machine_.sheet;
  result.machine = machine_.name;
  try {
    const MachineLock lock(options_.lock.empty() ? machine_lock_path() : options_.lock);
    const BundleFiles bundle = accept(job.bundle, result);
    result.note = wait_for_quiet();
    begun();
    measure(job, bundle, result);
  } catch (const std::exception& error) {
    result.error = error.what();
    result.rows.clear();
  }
  return result;
}

BundleFiles JobRunner::accept(const std::string& folder, JobResult& result) const {
  try {
    return read_bundle(folder, options_.trusted_keys);
  } catch (const Error&) {
    result.refused = true;
    throw;
  }
}

/// Only when others were seen at work: looking takes two seconds.
std::string JobRunner::wait_for_quiet() {
  if (options_.under_load || !was_loaded_) return {};
  WaitOptions wait;
  wait.limit_s = options_.wait_s;
  const WaitResult waited = wait_until_quiet(wait);
  was_loaded_ = !waited.quiet;
  return waited.note;
}

void JobRunner::measure(const Job& job, const BundleFiles& bundle, JobResult& result) {
  // The model uses these bytes in place.
  const std::unique_ptr<Model> model =
      require(Model::load_memory(bytes_of(bundle.bytes.at(bundle.manifest.artifact)), /*verify=*/false));
  const NamedArrays sampled =
      require(read_params_blob(bytes_of(bundle.bytes.at(bundle.manifest.expectations))));
  Executor& executor = model->executor();
  executor.set_threads(job.threads);
  set_bundle_inputs(executor, bundle.manifest.inputs);
  const auto check = [&](const char* when) {
    const std::string found =
        difference(outputs_of(executor), bundle.manifest.outputs, sampled, bundle.manifest.tolerance);
    if (!found.empty())
      throw Error("outputs differ from the reference run" + std::string(when) + ": " + found);
  };
  require(executor.run());
  check("");
  MeasuredJob measured =
      measure_job(executor, job.protocol,
                  {.core = look_at_core,
                   .most_pause_s = options_.under_load ? 0 : std::min(kMostPauseS, options_.wait_s)});
  result.rows = std::move(measured.rows);
  check(" after measuring");
  was_loaded_ = measured.disturbed_by.by_others();
  if (const std::string load = measured.disturbed_by.text(); !load.empty())
    result.note += (result.note.empty() ? "" : "; ") + ("measured under load: " + load);
}

}  // namespace baton
