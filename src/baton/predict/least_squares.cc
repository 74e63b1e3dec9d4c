#include "baton/predict/least_squares.h"

#include <cmath>

namespace baton {

std::optional<std::array<double, 3>> least_relative_squares(std::span<const TimeEquation> equations,
                                                            int count) {
  // Normal equations with columns of length one: operations are 1e9, calls 1.
  double length[3] = {};
  for (const TimeEquation& e : equations)
    for (int i = 0; i < count; ++i) length[i] += std::pow(e.terms[static_cast<size_t>(i)] / e.us, 2);
  for (double& each : length) each = std::sqrt(each);
  double a[3][4] = {};
  for (const TimeEquation& e : equations) {
    double x[3] = {};
    for (int i = 0; i < count; ++i)
      x[i] = length[i] > 0 ? e.terms[static_cast<size_t>(i)] / e.us / length[i] : 0;
    for (int i = 0; i < count; ++i) {
      for (int j = 0; j < count; ++j) a[i][j] += x[i] * x[j];
      a[i][3] += x[i];
    }
  }
  for (int i = 0; i < count; ++i) {
    if (!(std::abs(a[i][i]) > 1e-9)) return std::nullopt;
    for (int j = 0; j < count; ++j) {
      if (j == i) continue;
      const double factor = a[j][i] / a[i][i];
      for (int k = 0; k < 4; ++k) a[j][k] -= factor * a[i][k];
    }
  }
  std::array<double, 3> solution{};
  for (int i = 0; i < count; ++i) solution[static_cast<size_t>(i)] = a[i][3] / a[i][i] / length[i];
  return solution;
}

}  // namespace baton
