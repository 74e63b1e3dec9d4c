#include "baton/predict/least_squares.h"

#include <algorithm>
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

RelativeSquares::RelativeSquares(size_t terms) : count_(terms), products_(terms * terms), sums_(terms) {}

void RelativeSquares::add(std::span<const double> terms, double us, double weight) {
  const double scale = weight / (us * us);
  for (size_t i = 0; i < count_; ++i) {
    if (terms[i] == 0) continue;
    for (size_t j = 0; j < count_; ++j) products_[i * count_ + j] += scale * terms[i] * terms[j];
    sums_[i] += scale * terms[i] * us;
  }
}

std::vector<double> RelativeSquares::not_negative(std::span<const double> most) const {
  std::vector<double> fixed(count_, -1);
  for (;;) {
    std::vector<double> x = not_negative_but(fixed);
    size_t worst = count_;
    double farthest = 1;
    for (size_t i = 0; i < most.size(); ++i)
      if (fixed[i] < 0 && x[i] > farthest * most[i]) farthest = x[i] / most[i], worst = i;
    if (worst == count_) return x;
    fixed[worst] = most[worst];
  }
}

/// `fixed`: elements that are known; below 0: that are not.
std::vector<double> RelativeSquares::not_negative_but(std::span<const double> fixed) const {
  // Lawson and Hanson: terms enter where more of them would help most; those that turn negative leave.
  constexpr double kEnough = 1e-9;
  std::vector<double> x(count_), length(count_);
  for (size_t i = 0; i < count_; ++i) length[i] = std::sqrt(products_[i * count_ + i]);
  const auto product = [&](size_t i, size_t j) {  // of terms of length one
    return length[i] > 0 && length[j] > 0 ? products_[i * count_ + j] / (length[i] * length[j]) : 0.0;
  };
  std::vector<double> sums(sums_);  // without what fixed elements make of it
  for (size_t j = 0; j < count_; ++j)
    if (fixed[j] >= 0)
      for (size_t i = 0; i < count_; ++i) sums[i] -= products_[i * count_ + j] * fixed[j];
  const auto sum = [&](size_t i) { return length[i] > 0 ? sums[i] / length[i] : 0.0; };
  std::vector<size_t> in;
  const auto solved = [&] {
    const size_t n = in.size();
    std::vector<double> a(n * (n + 1));
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) a[i * (n + 1) + j] = product(in[i], in[j]);
      a[i * (n + 1) + i] += kEnough;  // terms that always go together share their factor
      a[i * (n + 1) + n] = sum(in[i]);
    }
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) {
        if (j == i) continue;
        const double factor = a[j * (n + 1) + i] / a[i * (n + 1) + i];
        for (size_t k = i; k <= n; ++k) a[j * (n + 1) + k] -= factor * a[i * (n + 1) + k];
      }
    std::vector<double> solution(n);
    for (size_t i = 0; i < n; ++i) solution[i] = a[i * (n + 1) + n] / a[i * (n + 1) + i];
    return solution;
  };
  for (size_t turn = 0; turn < 3 * count_; ++turn) {
    size_t best = count_;
    double most = kEnough;
    for (size_t i = 0; i < count_; ++i) {
      if (length[i] <= 0 || fixed[i] >= 0 || std::ranges::find(in, i) != in.end()) continue;
      double gradient = sum(i);
      for (size_t j = 0; j < count_; ++j) gradient -= product(i, j) * x[j];
      if (sum(i) > 0 && gradient > most * sum(i)) most = gradient / sum(i), best = i;
    }
    if (best == count_) break;
    in.push_back(best);
    while (!in.empty()) {
      const std::vector<double> next = solved();
      // As far towards the solution as all stay positive; what is 0 there leaves.
      double step = 1;
      for (size_t i = 0; i < in.size(); ++i)
        if (next[i] <= 0) step = std::min(step, x[in[i]] / (x[in[i]] - next[i]));
      for (size_t i = 0; i < in.size(); ++i) x[in[i]] += step * (next[i] - x[in[i]]);
      if (step >= 1) break;
      const size_t before = in.size();
      std::erase_if(in, [&](size_t i) {
        if (x[i] > 1e-12) return false;
        x[i] = 0;
        return true;
      });
      if (in.size() == before) break;
    }
  }
  for (size_t i = 0; i < count_; ++i) x[i] = fixed[i] >= 0 ? fixed[i] : length[i] > 0 ? x[i] / length[i] : 0;
  return x;
}

}  // namespace baton
