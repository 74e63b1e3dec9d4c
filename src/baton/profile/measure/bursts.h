#pragma once
// Mean times of calls, measured in bursts, as TVM's time evaluator does.
#include <atomic>
#include <functional>
#include <vector>

namespace baton {

struct BurstOptions {
  int number = 10;                       ///< calls per burst, >= 1
  int repeat = 1;                        ///< bursts
  double min_repeat_ms = 0;              ///< shorter bursts are repeated with more calls
  int limit_zero_time_iterations = 100;  ///< maximum number of attempts per burst
  int cooldown_interval_ms = 0;          ///< a pause ...
  int repeats_to_cooldown = 1;           ///< ... after this many bursts
  const std::atomic<bool>* interrupt = nullptr;
};

/// Calls `once` to warm up, then measures. Returns seconds per call, one number per burst. Throws UsageError
/// for options out of range, Interrupted on cancellation (polled between calls), and exceptions of `once`.
std::vector<double> time_bursts(const std::function<void()>& once, const BurstOptions& options);

}  // namespace baton
