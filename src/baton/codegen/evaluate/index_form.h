#pragma once
// Integers that depend on positions only by sums of digits: constant + sum of coef * (position[var] / div %
// mod). Offsets into memory of nearly all operators that move data have that form; a loop over digits then
// walks memory in strides.
#include <cstdint>
#include <optional>
#include <vector>

namespace baton {

struct IndexForm {
  /// The value coef * d, where the digit d = position[var] / div % mod takes all values of 0 .. mod - 1.
  struct Term {
    int var;
    int64_t div, mod, coef;
    bool operator==(const Term&) const = default;
  };
  int64_t constant = 0;
  std::vector<Term> terms;  ///< by variable and digit; none has a coefficient of 0

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
  IndexForm quotient, rest;  ///< rounded downwards; 0 <= rest < divisor
};

/// Nothing when quotient and rest are not of this form (or cannot be seen to be). divisor > 0.
std::optional<Division> divide(const IndexForm& a, int64_t divisor);

}  // namespace baton
