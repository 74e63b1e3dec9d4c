#pragma once
// Is a difference of two measured times a difference? Distribution-free: times have long tails.
#include <optional>
#include <vector>

namespace baton {

/// Half of the 95 % interval of a median, from the order of the samples (the binomial interval). None for
/// fewer than 6: then even the least and the largest sample enclose the median less surely than that.
std::optional<double> median_interval(std::vector<double> samples);

/// Two times that are compared.
struct Compared {
  double a = 0, b = 0;
  std::optional<double> interval;  ///< half of the 95 % interval of b - a; none: too few samples

  double delta() const { return b - a; }
  /// The difference is larger than what noise alone makes of it.
  bool differs() const { return interval && (delta() > *interval || delta() < -*interval); }
};

/// `a_us`, `b_us`: samples; none where there is nothing to measure, which is exact. Measured in turn
/// (`paired`): what stands at one place was measured within a moment, so its difference is taken, and a
/// drifting clock cancels. Measured apart, the clock may have moved between the two: each side's variation
/// (`a_cv`, `b_cv`, of whole runs) is added.
std::optional<double> difference_interval(const std::vector<double>& a_us, const std::vector<double>& b_us,
                                          bool paired, double a_cv, double b_cv);

}  // namespace baton
