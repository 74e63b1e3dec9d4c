#pragma once
// Small systems of equations.
#include <array>
#include <optional>
#include <span>

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

}  // namespace baton
