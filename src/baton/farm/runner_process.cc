#include "baton/farm/runner_process.h"

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "baton/farm/job/job_json.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/base/environment.h"
#include "baton/support/clone.h"
#include "baton/support/error.h"
#include "baton/support/program_folders.h"
#include "baton/support/subprocess.h"

namespace baton {
namespace {

constexpr int kMostStarts = 3;       // of runners that end before they measure
constexpr double kGraceSeconds = 1;  // loading the bundle, and writing the answer

double now_s() { return static_cast<double>(monotonic_ns()) / 1e9; }

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", seconds);
  return text;
}

std::string beside_this_program() {
  std::error_code ignored;
  for (const std::filesystem::path& folder : program_folders())
    for (const char* name : {"baton-runner", "bin/baton-runner"})
      if (std::filesystem::is_regular_file(folder / name, ignored)) return (folder / name).string();
  return "";
}

}  // namespace

std::string runner_program() {
  if (const std::string given = environment()->runner; !given.empty()) return given;
  std::string found = beside_this_program();
  if (found.empty()) found = find_program("baton-runner");
  if (found.empty() && build_part("runner")) found = beside_this_program();
  if (found.empty())
    throw Error(
        "baton-runner is neither beside this program nor in PATH: name it with BATON_RUNNER; in a clone of "
        "Baton `./baton setup runner` builds it");
  return found;
}

RunnerProcess::RunnerProcess(RunnerProcessOptions options) : options_(std::move(options)) { start(); }

void RunnerProcess::start() {
  const std::string program = options_.program.empty() ? runner_program() : options_.program;
  std::vector<std::string> words = {program, "--serve", "--wait", std::to_string(options_.wait_s)};
  if (options_.under_load) words.emplace_back("--under-load");
  if (!options_.trusted_keys.empty()) words.insert(words.end(), {"--trusted-keys", options_.trusted_keys});
  std::optional<std::string> line;  // one that is killed before it greets has cost nothing yet
  for (int starts = 1; !line; ++starts) {
    if (const Status status = process_.start(words); !status.ok())
      throw Error("the runner `" + program + "` cannot be started: " + status.message);
    line = process_.read_line(options_.start_s);
    if (line) break;
    const bool silent = !process_.ended();
    const std::string how = process_.finish();
    if (silent || starts == kMostStarts)
      throw Error(
          "the runner `" + program + "` " +
          (silent ? "said nothing for " + seconds_text(options_.start_s) : how + " before it greeted"));
  }
  machine_ = read_greeting(*line);
}

void RunnerProcess::submit(const Job& job) {
  waiting_.push_back(job);
  if (!job_) send_next();
}

void RunnerProcess::send_next() {
  if (waiting_.empty()) return;
  job_ = std::move(waiting_.front());
  waiting_.pop_front();
  begun_ = false;
  programs_.insert(job_->bundle);
  if (static_cast<int>(programs_.size()) > options_.most_programs) {
    process_.finish();
    programs_ = {job_->bundle};
  }
  if (!process_.running()) start();
  process_.write_line(job_line(*job_));  // whether it arrived is seen when the answer is read
}

std::optional<JobResult> RunnerProcess::next(double timeout_s) {
  const double until = now_s() + timeout_s;
  while (job_) {
    const double limit_s = job_->protocol.time_limit_s + kGraceSeconds;
    const double left = std::max(0.0, until - now_s());
    const double wait = begun_ ? std::min(left, std::max(0.0, begun_s_ + limit_s - now_s())) : left;
    if (const std::optional<std::string> line = process_.read_line(wait)) {
      if (std::optional<JobResult> result = take(*line)) return result;
    } else if (process_.ended()) {
      if (std::optional<JobResult> result = lost()) return result;
    } else if (begun_ && now_s() >= begun_s_ + limit_s) {
      process_.finish();
      return failed("no answer in " + seconds_text(job_->protocol.time_limit_s) + ": the runner was ended");
    } else if (now_s() >= until) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<JobResult> RunnerProcess::take(const std::string& line) {
  if (!begun_ && line == R"({"begun":true})") {
    begun_ = true;
    begun_s_ = now_s();
    lost_before_begin_ = 0;
    return std::nullopt;
  }
  try {
    JobResult result = read_result(line);
    if (result.id != job_->id) throw Error("an answer to another job, `" + result.id + "`");
    job_.reset();
    send_next();  // it measures while the caller keeps this result
    return result;
  } catch (const Error& error) {
    process_.finish();
    return failed(std::string("the runner answered ") + error.what());
  }
}

/// The process has ended. Before a job began it was not the job's fault: another one gets the same job.
std::optional<JobResult> RunnerProcess::lost() {
  const std::string how = process_.finish();
  if (begun_)
    return failed("the runner " + how, process_.signal() == SIGKILL || process_.signal() == SIGTERM);
  if (++lost_before_begin_ >= kMostStarts)
    throw Error("the runner " + how + ", " + std::to_string(kMostStarts) +
                " times in a row and before it measured anything; what it wrote stands above");
  waiting_.push_front(std::move(*job_));
  job_.reset();
  send_next();
  return std::nullopt;
}

/// Ends the job; the next one gets a new process.
JobResult RunnerProcess::failed(std::string error, bool retry) {
  JobResult result;
  result.id = job_->id;
  result.error = std::move(error);
  result.retry = retry;
  result.machine = machine_.name;
  result.device = machine_.sheet;
  job_.reset();
  send_next();
  return result;
}

}  // namespace baton
