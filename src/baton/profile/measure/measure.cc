#include "baton/profile/measure/measure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "baton/codegen/compiler.h"
#include "baton/profile/measure/quiet.h"
#include "baton/runtime/timers.h"
#include "baton/support/error.h"

namespace baton {

namespace {

constexpr int kWarmUpRuns = 3;
constexpr double kSteadyCv = 0.03;
constexpr double kTurnSeconds = 0.2;
constexpr double kWorthSaying = 0.1;  // fraction of discarded runs that is reported
constexpr int kEnoughRuns = 1000;     // of a small model: more samples only make the report longer

void require(const Status& status) {
  if (!status.ok()) throw Error(status.message);
}

void plain_run(Executor& executor, ClockWatch& watch, FusedTimes& times) {
  watch.begin();
  const Status status = executor.run();
  const std::optional<double> us = watch.end();
  require(status);
  if (us) times.plain_us.push_back(*us);
}

// A counter that differs between CPUs shows as a kernel that takes longer than the whole run.
bool is_sound(const RunProfile& profile) {
  double sum = 0;
  for (const std::vector<double>& node : profile.node_ns) sum += node[0];
  return sum <= profile.total_ns[0] * 1.000001;
}

void profiled_run(Executor& executor, ClockWatch& watch, FusedTimes& times) {
  watch.begin();
  Result<RunProfile> profile = executor.run_profiled(1);
  const std::optional<double> us = watch.end();
  require(profile.status());
  if (!us) return;
  if (!is_sound(*profile)) return watch.refuse();
  times.profiled_us.push_back(profile->total_ns[0] / 1e3);
  if (times.nodes.empty()) {
    times.nodes = profile->nodes;
    times.node_us.resize(times.nodes.size());
  }
  for (size_t i = 0; i < times.nodes.size(); ++i) times.node_us[i].push_back(profile->node_ns[i][0] / 1e3);
}

// One of the executors measured alternately.
struct Subject {
  Executor* executor;
  ClockWatch watch;
  FusedTimes times;
  int rounds = 0, rounds_held = 0;
  std::vector<bool> plain_held = {},
                    profiled_held = {};  // per time: the process was descheduled in that round
};

// A plain and a profiled run, in alternating order: the second one finds other cache contents and another
// clock speed.
void round(Subject& subject) {
  const long held_before = times_held_up();
  const bool plain_first = subject.rounds++ % 2 == 0;
  if (plain_first) plain_run(*subject.executor, subject.watch, subject.times);
  profiled_run(*subject.executor, subject.watch, subject.times);
  if (!plain_first) plain_run(*subject.executor, subject.watch, subject.times);
  const bool held = times_held_up() != held_before;
  subject.rounds_held += held;
  subject.plain_held.resize(subject.times.plain_us.size(), held);
  subject.profiled_held.resize(subject.times.profiled_us.size(), held);
}

void drop(std::vector<double>& values, const std::vector<bool>& dropped) {
  size_t kept = 0;
  for (size_t i = 0; i < values.size(); ++i)
    if (!dropped[i]) values[kept++] = values[i];
  values.resize(kept);
}

// Discards rounds in which the process was descheduled, unless that applies to most of them.
void drop_held_up(Subject& subject) {
  const auto rounds_held = [](const std::vector<bool>& held) {
    return std::count(held.begin(), held.end(), true);
  };
  const auto most = [&](const std::vector<bool>& held) {
    return 2 * rounds_held(held) > static_cast<long>(held.size());
  };
  if (most(subject.plain_held) || most(subject.profiled_held)) return;
  FusedTimes& times = subject.times;
  const long left_out = rounds_held(subject.plain_held) + rounds_held(subject.profiled_held);
  const size_t all = times.plain_us.size() + times.profiled_us.size();
  drop(times.plain_us, subject.plain_held);
  drop(times.profiled_us, subject.profiled_held);
  for (std::vector<double>& node : times.node_us) drop(node, subject.profiled_held);
  if (static_cast<double>(left_out) < kWorthSaying * static_cast<double>(all)) return;
  char text[160];
  std::snprintf(text, sizeof text,
                "%ld of %zu runs were left out: another program took the processor meanwhile", left_out, all);
  times.notes.push_back(text);
}

void add_notes(FusedTimes& times, const ClockWatch& watch, int runs, bool waited) {
  if (times.plain_us.empty() || times.profiled_us.empty())
    throw Error("no run of " + std::to_string(runs) +
                " could be timed: this machine's time stamp counter and its monotonic clock disagree by "
                "more than 0.1 %; /sys/devices/system/clocksource/clocksource0/current_clocksource names "
                "what the system trusts");
  if (std::string note = watch.note(runs); !note.empty()) times.notes.push_back(std::move(note));
  char text[160];
  const double cv = coefficient_of_variation(times.plain_us);
  if (cv > kSteadyCv) {
    std::snprintf(text, sizeof text, "runs vary by %.1f %% (standard deviation)%s", cv * 100,
                  waited ? "" : ": --wait measures once the machine is quiet");
    times.notes.push_back(text);
  }
}

void note_others(FusedTimes& times, const std::optional<CpuUse>& before) {
  const std::optional<CpuUse> after = cpu_use();
  if (!before || !after) return;
  times.others_busy = others_busy(*before, *after);
  if (times.others_busy < 0.1 * after->processors) return;
  char text[160];
  std::snprintf(text, sizeof text,
                "other programs kept %.1f of %d processors busy while the model was measured",
                times.others_busy, after->processors);
  times.notes.push_back(text);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  if (values.size() % 2) return values[middle];
  return (values[middle] + *std::max_element(values.begin(), values.begin() + middle)) / 2;
}

double coefficient_of_variation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double sum = 0, squares = 0;
  for (double v : values) sum += v;
  const double mean = sum / static_cast<double>(values.size());
  for (double v : values) squares += (v - mean) * (v - mean);
  return mean > 0 ? std::sqrt(squares / static_cast<double>(values.size() - 1)) / mean : 0;
}

std::vector<FusedTimes> measure_in_turns(std::span<Executor* const> executors,
                                         const MeasureOptions& options) {
  std::vector<Subject> subjects;
  double load[1] = {0};
  const bool known = getloadavg(load, 1) == 1;
  for (Executor* executor : executors) {
    for (int i = 0; i < kWarmUpRuns; ++i) require(executor->run());
    subjects.push_back({executor, ClockWatch(options.clocks), {}});
    subjects.back().times.load_before = known ? load[0] : 0;
  }
  const std::optional<CpuUse> before = cpu_use();
  const int64_t start = monotonic_ns();
  const double share = static_cast<double>(executors.size());
  const auto seconds = [&](int64_t since) { return static_cast<double>(monotonic_ns() - since) / 1e9; };
  const auto done = [&](const Subject& subject) {
    const double passed = seconds(start) / share;
    const int counting =
        2 * subject.rounds_held > subject.rounds ? subject.rounds : subject.rounds - subject.rounds_held;
    const bool enough =
        counting >= options.min_runs && (passed >= options.min_seconds || subject.rounds >= kEnoughRuns);
    return subject.rounds > 0 && (enough || passed >= 10 * options.min_seconds);
  };
  const bool alone = subjects.size() == 1;
  for (bool more = true; more;) {
    more = false;
    for (Subject& subject : subjects) {
      if (done(subject)) continue;
      more = true;
      const int64_t turn = monotonic_ns();
      if (!alone) require(subject.executor->run());  // brings its data back into the caches
      do {
        if (options.interrupt && *options.interrupt)
          throw Interrupted("interrupted while measuring; nothing was written");
        round(subject);
      } while (!done(subject) && (alone || seconds(turn) < kTurnSeconds));
    }
  }
  std::vector<FusedTimes> results;
  for (Subject& subject : subjects) {
    FusedTimes& times = subject.times;
    drop_held_up(subject);
    add_notes(times, subject.watch, 2 * subject.rounds, options.waited);
    note_others(times, before);
    if (!times.nodes.empty())
      times.ns_per_node = std::max(0.0, (median(times.profiled_us) - median(times.plain_us)) * 1e3 /
                                            static_cast<double>(times.nodes.size()));
    results.push_back(std::move(times));
  }
  return results;
}

FusedTimes measure_fused(Executor& executor, const MeasureOptions& options) {
  Executor* const only[] = {&executor};
  return std::move(measure_in_turns(only, options).front());
}

}  // namespace baton
