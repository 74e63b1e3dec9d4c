#pragma once
// Significance of a difference between two measured times. Distribution-free: times have long tails.
#include <optional>
#include <vector>

namespace baton {

/// Half of the 95 % confidence interval of a median, from order statistics (binomial). Nullopt for fewer than
/// 6 samples: then even the full range has less confidence.
std::optional<double> median_interval(std::vector<double> samples);

/// Two compared times.
struct Compared {
  double a = 0, b = 0;
  std::optional<double>
      interval;  ///< half of the 95 % confidence interval of b - a; nullopt: too few samples

  double delta() const { return b - a; }
  /// Whether the difference is significant.
  bool differs() const { return interval && (delta() > *interval || delta() < -*interval); }
};

/// `a_us`, `b_us`: samples; empty where there is nothing to measure, which is exact. When measured in turn
/// (`paired`), samples with equal index were taken together and are subtracted pairwise, so that clock drift
/// cancels. Otherwise the clock may have drifted in between: each side's variation (`a_cv`, `b_cv`, of whole
/// runs) is added.
std::optional<double> difference_interval(const std::vector<double>& a_us, const std::vector<double>& b_us,
                                          bool paired, double a_cv, double b_cv);

}  // namespace baton
