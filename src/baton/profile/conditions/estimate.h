#pragma once
// A time from several rounds of samples: arithmetic only, no clock. Rounds differ in what differs between
// processes (addresses of buffers and code, time), so that their spread says what another process would
// measure.
#include <optional>
#include <string>
#include <vector>

#include "baton/support/base/statistics.h"

namespace baton {

/// Standard deviation over mean; 0 for fewer than two values.
double coefficient_of_variation(const std::vector<double>& values);

/// The samples of one quantity in one round.
struct RoundSamples {
  std::vector<double> us;
  std::vector<bool> disturbed;  ///< per sample
  std::vector<bool> slow;       ///< per sample: on a core that was slower than usual

  void add(double value, bool held, bool on_slow_core = false) {
    us.push_back(value);
    disturbed.push_back(held);
    slow.push_back(on_slow_core);
  }
  /// Marks all samples from `first` on.
  void disturb_from(size_t first) {
    for (size_t i = first; i < disturbed.size(); ++i) disturbed[i] = true;
  }
};

/// Fewer rounds have no interval.
inline constexpr size_t kFewestRounds = 3;
/// Processes differ by this part of a time at least, whatever the rounds of each say.
inline constexpr double kBetweenProcesses = 0.01;
/// The variance of the median of a few normally distributed values over that of their mean: pi / 2 for many.
inline constexpr double kMedianVariance = 1.4;

struct Estimate {
  double us = 0;  ///< median of the rounds' medians
  /// Half of the 95 % interval: in 95 of 100 cases the same measurement by another process is this close.
  /// nullopt: fewer than three rounds.
  std::optional<double> plus_minus_us;
  std::vector<double> rounds_us;   ///< the median of each round
  std::vector<double> samples_us;  ///< undisturbed ones of all rounds, in order
  size_t left_out = 0;             ///< disturbed samples
  std::string unreliable;          ///< why `us` is only a guess; empty: it is not
};

/// Undisturbed samples on a core at its usual speed, where at least five of these are left, from at least
/// three rounds (as many as there are, if fewer were taken): the others are marked as disturbed. Else slow
/// ones count.
void leave_out_slow(std::vector<RoundSamples>& rounds);

/// Undisturbed samples only. When fewer than five are left (or half of them, if fewer were taken), the time
/// could not be measured: `us` is then the median of all samples' lower half, and `unreliable` is `why`.
Estimate estimate(const std::vector<RoundSamples>& rounds, const std::string& why);

/// The quantile of Student's t distribution that leaves 5 % outside both ends; infinity for no degrees.
double student_95(double degrees);
/// The same for any probability outside, 0 < p < 1.
double student_quantile(double p, double degrees);
/// The probability that a t-distributed value lies farther from 0 than `t`.
double student_outside(double t, double degrees);

/// Half of the 95 % interval for the value of another process with as many rounds; nullopt for fewer than
/// three.
std::optional<double> rounds_interval(const std::vector<double>& rounds);

/// Standard deviation of a sample; 0 for fewer than two values.
double standard_deviation(const std::vector<double>& values);
/// The same by the median distance from the median, which outliers do not change; 0 for no values.
double robust_deviation(const std::vector<double>& values);

}  // namespace baton
