#include "baton/clock/sample_clock.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/runtime/thread_reading.h"
#include "baton/support/interrupt.h"

namespace baton {

namespace {

constexpr double kLoopUs = 60, kMostCalls = 10'000;
constexpr int64_t kLookEveryNs = 50'000;     // whether the core is slow: it is so for longer
constexpr double kLookAgainS = 2e-3;         // while it is waited for
constexpr int64_t kPatienceNs = 20'000'000;  // for all threads to have a processor
constexpr int kMostAttempts = 4;
constexpr size_t kMany = 20;

}  // namespace

int calls_per_sample(double us) {
  return static_cast<int>(std::clamp(kLoopUs / std::max(us, 1e-3), 1.0, kMostCalls));
}

void SampleClock::use(int threads, bool on_devices, bool simulated) {
  threads_ = threads;
  on_devices_ = on_devices;
  simulated_ = simulated;
}

bool SampleClock::sees_slow_core() {
  if (simulated_ || !core_) return false;
  // The loops take longer than a small model.
  if (monotonic_ns() - looked_ns_ > kLookEveryNs) {
    seen_ = core_();
    looked_ns_ = monotonic_ns();
  }
  return seen_.slow;
}

/// Whether the core remains slow, or is waited for no longer. `again`: what its caches held may be gone.
bool SampleClock::waits_for_core(const std::function<void()>& again) {
  if (!sees_slow_core()) return false;
  if (paused_s_ >= most_pause_s_) return true;
  windows_.pause();
  const int64_t begin = monotonic_ns();
  bool slow = true;
  while (slow && paused_s_ + seconds_since(begin) < most_pause_s_) {
    stop_if_asked(interrupt_);
    std::this_thread::sleep_for(std::chrono::duration<double>(kLookAgainS));
    slow = core_().slow || core_().slow;
  }
  paused_s_ += seconds_since(begin);
  windows_.resume();
  again();
  return slow;
}

/// Every other sample beside other programs: what the caches hold is lost while the threads wait for each
/// other, which costs kernels that only move data more than a thread that is away.
bool SampleClock::gathers() {
  return threads_ > 1 && !on_devices_ && windows_.last_disturbed() && begun_++ % 2 == 0;
}

std::optional<Sample> SampleClock::take(const Run& run, int calls, const std::function<void()>& prepare) {
  stop_if_asked(interrupt_);
  const bool several = threads_ > 1;
  Sample sample;
  sample.slow = waits_for_core(run);
  if (prepare) prepare();
  if (gathers()) gather_threads(kPatienceNs);
  const ThreadReading before = read_thread(several);
  watch_.begin();
  const double told_us = run();
  const std::optional<double> passed_us = watch_.end();
  const ThreadReading after = read_thread(several);
  sample.slow |= sees_slow_core();
  sample.core_ns = seen_.filled_ns;
  if (!passed_us) return std::nullopt;
  sample.us = (told_us > 0 ? told_us : *passed_us) / calls;
  // Threads of a device's driver take turns with ours: their switches are no sign of other programs.
  sample.held = !on_devices_ && was_held(before, after, several);
  const auto wall_ns = static_cast<double>(after.wall_ns - before.wall_ns);
  if (sample.held && !simulated_ && wall_ns > 0)
    sample.computed_us = sample.us * computed_ns(before, after, threads_) / wall_ns;
  count(sample.held);
  return sample;
}

std::optional<Sample> SampleClock::take_unheld(const Run& run, const std::function<void()>& prepare) {
  for (int attempt = 1;; ++attempt) {
    const std::optional<Sample> sample = take(run, 1, prepare);
    // Where most are held up, repeating them only takes the time of the others.
    const bool hopeless = taken_ > kMany && 2 * held_ > taken_;
    if (!sample || !sample->held || hopeless || attempt == kMostAttempts) return sample;
  }
}

std::optional<Sample> SampleClock::watch(const std::function<void(bool gather)>& run) {
  stop_if_asked(interrupt_);
  Sample sample;
  sample.slow = waits_for_core([&] { run(false); });
  const bool gather = gathers();
  watch_.begin();
  run(gather);
  const bool agree = watch_.end().has_value();
  sample.slow |= sees_slow_core();
  sample.core_ns = seen_.filled_ns;
  return agree ? std::optional(sample) : std::nullopt;
}

void SampleClock::count(bool held) {
  ++taken_;
  held_ += held;
}

std::string SampleClock::reason() const {
  if (std::string text = windows_.sum().text(); !text.empty()) return text;
  char text[160];
  std::snprintf(text, sizeof text, "another program took the processor in %zu of %zu runs", held_, taken_);
  return text;
}

void throw_clocks_disagree(size_t runs) {
  throw Error("no run of " + std::to_string(runs) +
              " could be timed: this machine's time stamp counter and its monotonic clock disagree by more "
              "than 0.1 %; /sys/devices/system/clocksource/clocksource0/current_clocksource names what the "
              "system trusts");
}

}  // namespace baton
