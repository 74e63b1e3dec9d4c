#include "baton/profile/measure/bursts.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "baton/runtime/system/timers.h"
#include "baton/support/interrupt.h"

namespace baton {

namespace {

using Milliseconds = std::chrono::milliseconds;

void check(const BurstOptions& options) {
  const auto at_least = [](const char* name, double value, double least) {
    if (!(value >= least))
      throw UsageError(std::string(name) + " is " + std::to_string(value) + ", expected at least " +
                       std::to_string(static_cast<int>(least)));
  };
  at_least("number", options.number, 1);
  at_least("repeat", options.repeat, 1);
  at_least("min_repeat_ms", options.min_repeat_ms, 0);
  at_least("cooldown_interval_ms", options.cooldown_interval_ms, 0);
  at_least("repeats_to_cooldown", options.repeats_to_cooldown, 1);
}

void stop_if(const std::atomic<bool>* interrupt) {
  if (interrupt && interrupt->load(std::memory_order_relaxed))
    throw Interrupted("interrupted while measuring");
}

double burst_ms(const std::function<void()>& once, int64_t number, const std::atomic<bool>* interrupt) {
  const int64_t begin = monotonic_ns();
  for (int64_t i = 0; i < number; ++i) {
    stop_if(interrupt);
    once();
  }
  return static_cast<double>(monotonic_ns() - begin) * 1e-6;
}

void pause(int milliseconds, const std::atomic<bool>* interrupt) {
  constexpr int kStep = 20;
  for (int left = milliseconds; left > 0; left -= kStep) {
    stop_if(interrupt);
    std::this_thread::sleep_for(Milliseconds(std::min(left, kStep)));
  }
}

}  // namespace

std::vector<double> time_bursts(const std::function<void()>& once, const BurstOptions& options) {
  check(options);
  constexpr double kGrowth = 1.6, kMost = 1e9;
  stop_if(options.interrupt);
  once();
  std::vector<double> seconds;
  double number = options.number;
  for (int done = 1; done <= options.repeat; ++done) {
    double ms = burst_ms(once, static_cast<int64_t>(number), options.interrupt);
    for (int tries = 1; ms < options.min_repeat_ms && tries < std::max(1, options.limit_zero_time_iterations);
         ++tries) {
      const double wanted = ms > 0 ? options.min_repeat_ms / ms * number + 1 : 0;
      number = std::min(kMost, std::max(number * kGrowth, wanted));
      ms = burst_ms(once, static_cast<int64_t>(number), options.interrupt);
    }
    seconds.push_back(ms * 1e-3 / static_cast<double>(static_cast<int64_t>(number)));
    if (options.cooldown_interval_ms > 0 && done % options.repeats_to_cooldown == 0 && done < options.repeat)
      pause(options.cooldown_interval_ms, options.interrupt);
  }
  return seconds;
}

}  // namespace baton
