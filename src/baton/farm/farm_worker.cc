#include "baton/farm/farm_worker.h"

#include <algorithm>
#include <filesystem>

#include "baton/farm/job/job_json.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/base/environment.h"
#include "baton/support/clone.h"
#include "baton/support/interrupt.h"
#include "baton/support/json.h"
#include "baton/support/program_folders.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr double kStartS = 60;      // Python and distributed, on a busy machine
constexpr int kJobsPerMachine = 2;  // one is measured, one waits there

/// python/baton/farm: beside an installed program or library (baton/bin, baton/lib), or in the source tree
/// they were built in (build/PRESET).
std::string package() {
  std::error_code ignored;
  std::vector<fs::path> places;
  if (const std::string root = environment()->root; !root.empty())
    places.push_back(fs::path(root) / "python/baton/farm");
  for (const fs::path& folder : program_folders())
    places.insert(places.end(), {folder / "farm", folder / "python/baton/farm"});
  for (const fs::path& place : places)
    if (fs::exists(place / "__main__.py", ignored)) return (place / "__main__.py").string();
  throw Error("the farm is part of the Python package, which is not there: install it (pip install .)");
}

std::string python_of(const FarmOptions& options) {
  if (!options.python.empty()) return options.python;
  const std::string given = environment()->python;
  return given.empty() ? "python3" : given;
}

double seconds_now() { return static_cast<double>(monotonic_ns()) / 1e9; }

}  // namespace

FarmWorker::FarmWorker(const FarmOptions& options) {
  if (options.python.empty()) build_part("data");  // in a clone: Dask and what it needs
  std::vector<std::string> words = {python_of(options),
                                    package(),
                                    "--on",
                                    options.on,
                                    "--wait",
                                    std::to_string(options.wait_s),
                                    "--worker-wait",
                                    std::to_string(options.worker_wait_s)};
  if (options.under_load) words.emplace_back("--under-load");
  for (const auto& [flag, value] : {std::pair{"--runner", options.runner},
                                    {"--trusted-keys", options.trusted_keys},
                                    {"--tls-ca-file", options.tls_ca_file},
                                    {"--tls-cert", options.tls_cert},
                                    {"--tls-key", options.tls_key}})
    if (!value.empty()) words.insert(words.end(), {flag, value});
  if (const Status status = process_.start(words); !status.ok())
    throw Error("the farm's Python `" + words[0] + "` cannot be started: " + status.message);
  const double until = seconds_now() + options.worker_wait_s + kStartS;
  while (machines_.empty()) {
    stop_if_asked(options.interrupt);
    const std::optional<std::string> line = process_.read_line(0.2);
    if (line || process_.ended() || seconds_now() >= until) take(line.value_or(""));
  }
}

int FarmWorker::places() const { return kJobsPerMachine * machines(); }

void FarmWorker::submit(const Job& job) {
  open_.insert(job.id);
  // Its reason is among what is left to read.
  if (!process_.write_line(job_line(job)))
    while (true) take(process_.read_line(1).value_or(""));
}

std::optional<JobResult> FarmWorker::next(double timeout_s) {
  const double until = seconds_now() + timeout_s;
  while (!open_.empty()) {
    const std::optional<std::string> line = process_.read_line(std::max(0.0, until - seconds_now()));
    if (!line && !process_.ended()) return std::nullopt;
    if (std::optional<JobResult> result = take(line.value_or(""))) return result;
  }
  return std::nullopt;
}

/// A line of the farm: an empty one means that there was none.
std::optional<JobResult> FarmWorker::take(const std::string& line) {
  if (line.empty()) {
    const bool silent = !process_.ended();
    const std::string how = process_.finish();
    throw Error("the farm's process " + (silent ? "said nothing, and was ended" : how) +
                "; what it wrote stands above, what was measured is kept");
  }
  const Json json = Json::parse_or_discard(line);
  if (json.is_object() && json.contains("id") && json["id"].is_string()) {
    const std::string id = json["id"].get<std::string>();
    open_.erase(id);
    try {
      return read_result(line);
    } catch (const Error& error) {  // what a runner says costs its job, not the campaign
      JobResult result;
      result.id = id;
      result.error = std::string("the runner answered ") + error.what();
      return result;
    }
  }
  if (json.is_object() && json.contains("machines")) {
    machines_.clear();
    for (const Json& each : json["machines"]) machines_.push_back(read_greeting(each.dump()));
    return std::nullopt;
  }
  process_.finish();
  throw Error(json.is_object() && json.contains("error") ? json["error"].get<std::string>()
                                                         : "the farm said `" + line.substr(0, 200) + "`");
}

}  // namespace baton
