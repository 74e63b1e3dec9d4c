#pragma once
// Integers that depend on positions only through sums of digits: constant + sum of coef * (position[var] /
// div % mod). Memory offsets of nearly all data movement operators have this form; a loop over digits then
// accesses memory in strides.
#include <cstdint>
#include <optional>
#include <vector>

namespace baton {

struct IndexForm {
  /// The value coef * d, where the digit d = position[var] / div % mod takes all values in 0 .. mod - 1.
  struct Term {
    int var;
    int64_t div, mod, coef;
    bool operator==(const Term&) const = default;
  };
  int64_t constant = 0;
  std::vector<Term> terms;  ///< sorted by variable and digit; coefficients are not 0

  /// The position itself, 0 .. extent - 1.
  static IndexForm variable(int var, int64_t extent);

  bool is_constant() const { return terms.empty(); }
  int64_t min() const;  ///< exact when no two terms share digits
  int64_t max() const;
  bool operator==(const IndexForm&) const = default;
};

/// a + factor * b
IndexForm add(const IndexForm& a, const IndexForm& b, int64_t factor = 1);
IndexForm scale(const IndexForm& a, int64_t factor);

struct Division {
  IndexForm quotient, rest;  ///< floor division; 0 <= rest < divisor
};

/// Nullopt when quotient and remainder are not (provably) of this form. divisor > 0.
std::optional<Division> divide(const IndexForm& a, int64_t divisor);

}  // namespace baton
