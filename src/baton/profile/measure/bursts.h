#pragma once
// Mean times of calls, measured in bursts: what TVM calls a time evaluator.
#include <atomic>
#include <functional>
#include <vector>

namespace baton {

struct BurstOptions {
  int number = 10;                       ///< calls per burst, >= 1
  int repeat = 1;                        ///< bursts
  double min_repeat_ms = 0;              ///< a burst that is shorter is measured again with more calls
  int limit_zero_time_iterations = 100;  ///< at most so many attempts at a burst
  int cooldown_interval_ms = 0;          ///< a pause ...
  int repeats_to_cooldown = 1;           ///< ... after each so many bursts
  const std::atomic<bool>* interrupt = nullptr;
};

/// Calls `once` to warm up, then measures. Seconds per call, one number per burst. Throws UsageError for
/// options out of range, Interrupted when asked to stop (looked at between two calls), and what `once`
/// throws.
std::vector<double> time_bursts(const std::function<void()>& once, const BurstOptions& options);

}  // namespace baton
