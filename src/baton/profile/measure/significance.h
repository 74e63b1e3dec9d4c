#pragma once
// Significance of a difference between two measured times. Distribution-free: times have long tails.
#include <optional>
#include <vector>

namespace baton {

/// Half of the 95 % confidence interval of a median, from order statistics (binomial). Nullopt for fewer than
/// 6 samples: then even the full range has less confidence.
std::optional<double> median_interval(std::vector<double> samples);

/// Measured in turn, two times beside other programs are disturbed alike: by this part of what one may differ
/// from a quiet machine they differ from each other.
inline constexpr double kAlikeInTurn = 0.5;

/// Two compared times.
struct Compared {
  double a = 0, b = 0;
  std::optional<double> interval =
      {};               ///< half of the 95 % confidence interval of b - a; nullopt: too few samples
  double degrees = 0;   ///< of freedom of that interval; 0: of a normal distribution
  bool marked = false;  ///< significant among all rows (mark_significant)

  double delta() const { return b - a; }
  /// The probability of a difference this large when there is none; 1 without an interval.
  double probability() const;
  /// Whether the difference is significant.
  bool differs() const { return marked; }
};

/// A difference's interval and its degrees of freedom.
struct DifferenceInterval {
  std::optional<double> half;
  double degrees = 0;
};

/// From the rounds of each side (Estimate::rounds_us); empty where there is nothing to measure, which is
/// exact. In turn (`paired`): rounds of equal index were taken together and are subtracted pairwise.
/// Otherwise by Welch's test, and what all processes differ by is added. Nullopt for fewer than three rounds.
DifferenceInterval rounds_difference(const std::vector<double>& a_us, const std::vector<double>& b_us,
                                     bool paired);

/// From single samples, where there are no rounds. When measured in turn (`paired`), samples with equal index
/// were taken together and are subtracted pairwise, so that clock drift cancels. Otherwise the clock may have
/// drifted in between: each side's variation (`a_cv`, `b_cv`, of whole runs) is added.
std::optional<double> difference_interval(const std::vector<double>& a_us, const std::vector<double>& b_us,
                                          bool paired, double a_cv, double b_cv);

/// Marks the rows that differ. Among hundreds of rows some exceed their own 95 % by chance: the rate of false
/// marks among all marked is kept at 5 % (Benjamini and Hochberg, 1995).
void mark_significant(const std::vector<Compared*>& rows);

}  // namespace baton
