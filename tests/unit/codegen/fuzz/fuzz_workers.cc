#include "codegen/fuzz/fuzz_workers.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <optional>
#include <set>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/fuzz/changed_operands.h"
#include "codegen/fuzz/random_case.h"

extern char** environ;

namespace baton::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kCaseVariable = "BATON_KERNEL_FUZZ_CASE";
constexpr const char* kSeedsVariable = "BATON_KERNEL_FUZZ_SEEDS";        // "first count"
constexpr const char* kOperandsVariable = "BATON_KERNEL_FUZZ_OPERANDS";  // the same
constexpr const char* kMark = "kernel-fuzz ";                            // begins the lines of the protocol
constexpr uint64_t kCasesPerChild = 150;                                 // Halide's memory grows
constexpr uint64_t kOperandsPerChild = 1'000;                            // most are ill typed
constexpr double kHangSeconds = 120;      // of processor time: a case that takes longer hangs,
constexpr double kSilentSeconds = 1'200;  // and one that waits this long, busy or not

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = '\x1f';
  return text;
}
std::string many_lines(std::string text) {
  for (char& c : text)
    if (c == '\x1f') c = '\n';
  return text;
}

void report(const Verdict& verdict) {
  static const char* const kKinds[] = {"agrees", "refused", "found"};
  std::cout << kMark << kKinds[static_cast<int>(verdict.kind)] << '\t' << one_line(verdict.finding) << '\t'
            << one_line(verdict.text) << std::endl;
}

std::optional<Verdict> read_verdict(const std::string& line) {
  const size_t first = line.find('\t'),
               second = first == std::string::npos ? first : line.find('\t', first + 1);
  if (second == std::string::npos) return std::nullopt;
  const std::string kind = line.substr(0, first);
  return Verdict{kind == "agrees"    ? Verdict::Kind::kAgrees
                 : kind == "refused" ? Verdict::Kind::kRefused
                                     : Verdict::Kind::kFound,
                 line.substr(first + 1, second - first - 1), many_lines(line.substr(second + 1))};
}

/// Another process of this test program with one variable more in its environment.
class Worker {
 public:
  Worker(const std::string& variable, const std::string& value) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    std::vector<std::string> settings{variable + "=" + value};
    for (char** each = environ; *each; ++each) settings.emplace_back(*each);
    std::vector<char*> environment;
    for (std::string& setting : settings) environment.push_back(setting.data());
    environment.push_back(nullptr);
    std::string words[] = {"/proc/self/exe", "--gtest_filter=KernelFuzz.DISABLED_Worker",
                           "--gtest_also_run_disabled_tests"};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    char program[4096];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    if (posix_spawn(&process_, program, &actions, nullptr, arguments, environment.data()) != 0) process_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    output_ = ends[0];
  }
  ~Worker() {
    if (process_ > 0) kill(process_, SIGKILL), waitpid(process_, nullptr, 0);
    if (output_ >= 0) close(output_);
  }
  Worker(const Worker&) = delete;

  /// The next line of the protocol, without its mark; nullopt at the end or after a long silence, which kills
  /// the process.
  std::optional<std::string> line() {
    for (;;) {
      if (const size_t end = read_.find('\n'); end != std::string::npos) {
        const std::string found = read_.substr(0, end);
        read_.erase(0, end + 1);
        if (const size_t mark = found.find(kMark); mark != std::string::npos)
          return found.substr(mark + std::strlen(kMark));
        other_ = (other_ + found + "\n");
        if (other_.size() > 20'000) other_.erase(0, other_.size() - 10'000);
        continue;
      }
      pollfd waits{output_, POLLIN, 0};
      if (poll(&waits, 1, 1'000) == 0) {
        if (used_seconds() - used_before_ < kHangSeconds && seconds_since(last_heard_) < kSilentSeconds)
          continue;
        hangs_ = true;
        kill(process_, SIGKILL);
        return std::nullopt;
      }
      used_before_ = used_seconds();
      last_heard_ = Clock::now();
      char bytes[4096];
      const ssize_t count = read(output_, bytes, sizeof bytes);
      if (count <= 0) return std::nullopt;
      read_.append(bytes, static_cast<size_t>(count));
    }
  }

  /// What ended it before it was done.
  Verdict end() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    Verdict verdict{Verdict::Kind::kFound, "ended", other_};
    if (hangs_)
      verdict.finding = "hangs";
    else if (WIFSIGNALED(status))
      verdict.finding = std::string("signal ") + strsignal(WTERMSIG(status));
    else
      verdict.finding = "ended with status " + std::to_string(WEXITSTATUS(status));
    return verdict;
  }

 private:
  /// Processor time of the process. On a loaded machine, time by the clock says little.
  double used_seconds() const {
    clockid_t clock;
    timespec used{};
    if (clock_getcpuclockid(process_, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  }

  pid_t process_ = -1;
  int output_ = -1;
  double used_before_ = 0;
  Clock::time_point last_heard_ = Clock::now();
  std::string read_, other_;
  bool hangs_ = false;
};

/// Findings of seeds, each class shrunk and printed once.
class Findings {
 public:
  void add(const std::string& seed, const std::string& text, const Verdict& verdict) {
    std::cout << "FINDING seed " << seed << " [" << verdict.finding << "] " << text << "\n"
              << verdict.text.substr(0, 1500) << std::endl;
    if (!classes_.insert(verdict.finding).second) return;
    const std::string smaller = shrunk(text, verdict.finding, 60);
    std::cout << "  shrunk: " << smaller << "\n" << relay_text(parse_case(smaller)) << std::endl;
  }

 private:
  std::set<std::string> classes_;
};

}  // namespace

void work_as_child() {
  if (const char* text = std::getenv(kCaseVariable)) return report(run_case(parse_case(text)));
  const char *seeds = std::getenv(kSeedsVariable), *operands = std::getenv(kOperandsVariable);
  if (!seeds && !operands) return;
  char* rest = nullptr;
  const uint64_t first = std::strtoull(seeds ? seeds : operands, &rest, 10),
                 count = std::strtoull(rest, nullptr, 10);
  const std::vector<std::string> changed = seeds ? std::vector<std::string>{} : changed_operands();
  for (uint64_t number = first; number < first + count; ++number) {
    std::cout << kMark << "begins" << std::endl;
    const KernelCase chain = seeds ? random_case(number) : parse_case(changed.at(number));
    std::cout << kMark << case_text(chain) << std::endl;
    report(seeds ? run_case(chain) : run_reference(chain));
  }
}

Verdict verdict_in_child(const std::string& text) {
  Worker worker(kCaseVariable, text);
  while (const auto line = worker.line())
    if (const auto verdict = read_verdict(*line)) return *verdict;
  return worker.end();
}

namespace {

/// The cases first..last-1 of what `variable` selects, up to `per_child` in each process, until `seconds` are
/// over. `add` takes each number, text and verdict.
template <class Add>
void for_each_verdict(const char* variable, uint64_t first, uint64_t last, uint64_t per_child, double seconds,
                      const Add& add) {
  const Clock::time_point start = Clock::now();
  uint64_t number = first;
  while (number < last && seconds_since(start) < seconds) {
    const uint64_t end = std::min(last, number + per_child);
    Worker worker(variable, std::to_string(number) + " " + std::to_string(end - number));
    std::string text = "(while it was made)";
    while (number < end && seconds_since(start) < seconds) {
      const auto line = worker.line();
      std::optional<Verdict> verdict = line ? read_verdict(*line) : worker.end();
      if (!verdict) {
        text = *line;
        continue;
      }
      add(number++, text, *verdict);
      if (!line) break;  // a new process for the rest
    }
  }
}

}  // namespace

FuzzCounts fuzz_seeds(uint64_t first, uint64_t count, double seconds) {
  FuzzCounts counts;
  Findings findings;
  for_each_verdict(kSeedsVariable, first, first + count, kCasesPerChild, seconds,
                   [&](uint64_t seed, const std::string& text, const Verdict& verdict) {
                     ++counts.cases;
                     counts.refused += verdict.kind == Verdict::Kind::kRefused;
                     if (verdict.kind != Verdict::Kind::kFound) return;
                     ++counts.findings;
                     findings.add(std::to_string(seed), text, verdict);
                   });
  return counts;
}

FuzzCounts check_changed_operands(uint64_t first, double seconds) {
  FuzzCounts counts;
  const uint64_t last = changed_operands().size();
  for_each_verdict(kOperandsVariable, first, last, kOperandsPerChild, seconds,
                   [&](uint64_t number, const std::string& text, const Verdict& verdict) {
                     ++counts.cases;
                     counts.refused += verdict.kind == Verdict::Kind::kRefused;
                     if (verdict.kind != Verdict::Kind::kFound) return;
                     ++counts.findings;
                     std::cout << "FINDING operands " << number << " [" << verdict.finding << "] " << text
                               << "\n"
                               << verdict.text.substr(0, 600) << std::endl;
                   });
  return counts;
}

namespace {

/// Cases that are smaller by one step.
std::vector<KernelCase> smaller_cases(const KernelCase& chain) {
  std::vector<KernelCase> all;
  if (chain.size() > 1) all.emplace_back(chain.begin(), chain.end() - 1);
  for (size_t c = 0; c < chain.size(); ++c) {
    for (size_t a = 0; a < chain[c].attrs.size(); ++a) {
      all.push_back(chain);
      all.back()[c].attrs.erase(all.back()[c].attrs.begin() + static_cast<std::ptrdiff_t>(a));
    }
    std::set<int64_t> extents;
    for (const CaseArg& arg : chain[c].args)
      for (const CaseTensor& tensor : arg.tensors) extents.insert(tensor.shape.begin(), tensor.shape.end());
    for (const int64_t was : extents)
      for (const int64_t now : {int64_t{1}, int64_t{2}, was / 2, was - 1}) {
        if (was <= 1 || now >= was || now < 1) continue;
        all.push_back(chain);
        for (CaseCall& call : all.back())
          for (CaseArg& arg : call.args)
            for (CaseTensor& tensor : arg.tensors) std::ranges::replace(tensor.shape, was, now);
      }
  }
  return all;
}

}  // namespace

std::string shrunk(const std::string& text, const std::string& finding, double seconds) {
  const Clock::time_point start = Clock::now();
  KernelCase best;
  try {
    best = parse_case(text);
  } catch (const std::exception&) {
    return text;  // it crashed while it was made
  }
  for (bool found = true; found;) {
    found = false;
    for (const KernelCase& smaller : smaller_cases(best)) {
      if (seconds_since(start) > seconds) return case_text(best);
      if (verdict_in_child(case_text(smaller)).finding != finding) continue;
      best = smaller;
      found = true;
      break;
    }
  }
  return case_text(best);
}

}  // namespace baton::fuzz
