// baton-runner: measures bundles on a machine that has Baton's runtime and neither its compiler nor Python.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "baton/farm/job/job_json.h"
#include "baton/farm/job/signature.h"
#include "baton/runner/job_runner.h"
#include "baton/support/error.h"

namespace baton {
namespace {

constexpr const char* kUsage =
    R"(Measures bundles of `baton bundle make` with Baton's runtime alone. Prints lines of JSON: the machine
first, then what was measured.

usage: baton-runner [FLAGS] BUNDLE ...
       baton-runner --serve [FLAGS]      jobs as lines of JSON on standard input

  --threads N          for all loops (default: 1)
  --caches LIST        of hot, flushed (default: hot)
  --nodes              each kernel too, as it runs in the model
  --min-samples N      without disturbed ones (default: 30), until the coefficient of variation is at most
  --cv X               (default: 0.03), or the time is over:
  --max-seconds S      (default: 3)
  --time-limit S       a bundle that takes longer has failed (default: 60)
  --trusted-keys FILE  runs bundles only that are signed by one of the public keys in FILE, one per line
  --wait S             waits that long at most for other programs to leave the machine alone (default: 60)
  --under-load         measures at once; samples taken under load are marked
  --lock FILE          instead of the machine's lock
)";

struct Words {
  RunnerOptions options;
  Job job;  ///< of bundles on the command line
  std::vector<std::string> bundles;
  bool serve = false;
};

double number_of(const std::string& flag, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !(value >= 0) || value > 1e9)
    throw UsageError(flag + " takes a number, not `" + text + "`");
  return value;
}

std::vector<CacheState> caches_of(std::string text) {
  std::vector<CacheState> caches;
  text += ',';
  for (size_t begin = 0, comma; (comma = text.find(',', begin)) != std::string::npos; begin = comma + 1) {
    const std::string name = text.substr(begin, comma - begin);
    const std::optional<CacheState> state = cache_state_named(name);
    if (!state) throw UsageError("--caches takes hot and flushed, not `" + name + "`");
    caches.push_back(*state);
  }
  return caches;
}

Words parse(const std::vector<std::string>& arguments) {
  Words words;
  Protocol& protocol = words.job.protocol;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& flag = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == arguments.size()) throw UsageError(flag + " takes a value");
      return arguments[++i];
    };
    const auto number = [&] { return number_of(flag, value()); };
    if (flag == "--serve")
      words.serve = true;
    else if (flag == "--threads")
      words.job.threads = std::max(1, static_cast<int>(number()));
    else if (flag == "--caches")
      protocol.caches = caches_of(value());
    else if (flag == "--nodes")
      protocol.nodes = true;
    else if (flag == "--min-samples")
      protocol.min_samples = std::max(1, static_cast<int>(number()));
    else if (flag == "--cv")
      protocol.cv = number();
    else if (flag == "--max-seconds")
      protocol.max_seconds = number();
    else if (flag == "--time-limit")
      protocol.time_limit_s = number();
    else if (flag == "--trusted-keys")
      words.options.trusted_keys = read_public_keys(value());
    else if (flag == "--wait")
      words.options.wait_s = number();
    else if (flag == "--under-load")
      words.options.under_load = true;
    else if (flag == "--lock")
      words.options.lock = value();
    else if (flag.starts_with("-"))
      throw UsageError("there is no flag `" + flag + "`");
    else
      words.bundles.push_back(flag);
  }
  if (words.serve != words.bundles.empty()) throw UsageError("give bundles, or --serve");
  return words;
}

/// Standard output as it was: whatever else writes there (a driver, a kernel) writes to standard error.
class Answers {
 public:
  Answers() : file_(fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), "w")) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~Answers() {
    if (file_) std::fclose(file_);
  }
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;
  /// False when nobody reads any more.
  bool write(const std::string& line) {
    return file_ && std::fprintf(file_, "%s\n", line.c_str()) >= 0 && std::fflush(file_) == 0;
  }

 private:
  std::FILE* file_;
};

/// A hung kernel must not outlive whoever asked for it and can no longer end it.
void end_with_parent() {
  std::thread([parent = getppid()] {
    pollfd input{STDIN_FILENO, 0, 0};
    while (poll(&input, 1, -1) < 0 || !(input.revents & (POLLHUP | POLLERR))) {
    }
    while (getppid() == parent) sleep(1);
    _exit(1);
  }).detach();
}

int serve(JobRunner& runner, Answers& answers) {
  end_with_parent();
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty()) continue;
    JobResult result;
    try {
      const Job job = read_job(line);
      result = runner.run(job, [&] { answers.write(R"({"begun":true})"); });
    } catch (const Error& error) {
      result.machine = runner.machine().name;
      result.device = runner.machine().sheet;
      result.error = error.what();
    }
    if (!answers.write(result_line(result))) return 1;
  }
  return 0;
}

int run_bundles(JobRunner& runner, const Words& words, Answers& answers) {
  bool all = true;
  for (const std::string& bundle : words.bundles) {
    Job job = words.job;
    job.id = job.bundle = bundle;
    // A hung kernel ends the process by SIGALRM, whose message is the shell's.
    const JobResult result =
        runner.run(job, [&] { alarm(static_cast<unsigned>(job.protocol.time_limit_s) + 1); });
    alarm(0);
    if (!result.error.empty()) std::cerr << "baton-runner: " << result.error << '\n';
    if (!result.note.empty()) std::cerr << "baton-runner: " << result.note << '\n';
    all = answers.write(result_line(result)) && result.error.empty() && all;
  }
  return all ? 0 : 1;
}

int run(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::cout << kUsage;
    return 0;
  }
  const Words words = parse(arguments);
  Answers answers;
  JobRunner runner(words.options);
  if (!answers.write(greeting_line(runner.machine()))) return 1;
  return words.serve ? serve(runner, answers) : run_bundles(runner, words, answers);
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  try {
    return baton::run({argv + 1, argv + argc});
  } catch (const baton::UsageError& error) {
    std::cerr << "baton-runner: " << error.what() << "\n\n" << baton::kUsage;
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "baton-runner: " << error.what() << '\n';
    return 1;
  }
}
