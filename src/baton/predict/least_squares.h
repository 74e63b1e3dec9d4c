#pragma once
// Small systems of equations.
#include <array>
#include <optional>
#include <span>
#include <vector>

namespace baton {

/// us = x[0] * terms[0] + x[1] * terms[1] + ...
struct TimeEquation {
  std::array<double, 3> terms{};
  double us = 0;
};

/// The x of the least squares of relative errors, for the first `count` terms; the others are 0. Nullopt when
/// the terms determine none.
std::optional<std::array<double, 3>> least_relative_squares(std::span<const TimeEquation> equations,
                                                            int count);

/// Least squares of relative errors with any number of terms.
class RelativeSquares {
 public:
  explicit RelativeSquares(size_t terms);
  /// An equation us = x[0] * terms[0] + ...
  void add(std::span<const double> terms, double us, double weight);
  /// The x that is best of all without negative elements and with none above `most` (of all terms, or empty).
  /// Where several would be above, they are set to their bounds in the order of how far they are.
  std::vector<double> not_negative(std::span<const double> most = {}) const;

 private:
  std::vector<double> not_negative_but(std::span<const double> fixed) const;

  size_t count_;
  std::vector<double> products_, sums_;  // of normal equations: count_ x count_, and the right side
};

}  // namespace baton
