#include "baton/profile/measure/significance.h"

#include <algorithm>
#include <cmath>

#include "baton/clock/estimate.h"
#include "baton/profile/measure/measure.h"

namespace baton {
namespace {

constexpr size_t kFewest = 6;  // 2 * 0.5^6 < 5 %
constexpr double kSigmas = 1.96;
constexpr double kFalseMarks = 0.05;

}  // namespace

std::optional<double> median_interval(std::vector<double> samples) {
  const size_t count = samples.size();
  if (count < kFewest) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  const double half = kSigmas / 2 * std::sqrt(static_cast<double>(count));
  const auto low = static_cast<size_t>(std::max(0.0, std::floor(static_cast<double>(count) / 2 - half)));
  const double middle = median(samples);
  return std::max(middle - samples[low], samples[count - 1 - low] - middle);
}

double Compared::probability() const {
  if (!interval) return 1;
  if (delta() == 0) return 1;
  if (*interval <= 0) return 0;
  const double ratio = std::abs(delta()) / *interval;
  return degrees > 0 ? student_outside(ratio * student_95(degrees), degrees)
                     : std::erfc(ratio * kSigmas / std::sqrt(2.0));
}

DifferenceInterval rounds_difference(const std::vector<double>& a_us, const std::vector<double>& b_us,
                                     bool paired) {
  if (paired && !a_us.empty() && a_us.size() == b_us.size()) {
    if (a_us.size() < kFewestRounds) return {};
    std::vector<double> differences;
    for (size_t i = 0; i < a_us.size(); ++i) differences.push_back(b_us[i] - a_us[i]);
    const auto count = static_cast<double>(differences.size());
    return {student_95(count - 1) * standard_deviation(differences) * std::sqrt(kMedianVariance / count),
            count - 1};
  }
  double variance = 0, denominator = 0, apart = 0;
  for (const std::vector<double>* side : {&a_us, &b_us}) {
    if (side->empty()) continue;
    if (side->size() < kFewestRounds) return {};
    const auto count = static_cast<double>(side->size());
    const double deviation = standard_deviation(*side), own = kMedianVariance * deviation * deviation / count;
    variance += own;
    denominator += own * own / (count - 1);
    if (!paired) apart += std::pow(kBetweenProcesses * median(*side), 2);
  }
  const double degrees = denominator > 0 ? variance * variance / denominator : 1e6;
  return {std::sqrt(std::pow(student_95(degrees), 2) * variance + apart), degrees};
}

void mark_significant(const std::vector<Compared*>& rows) {
  std::vector<std::pair<double, Compared*>> order;
  for (Compared* row : rows) {
    row->marked = false;
    if (row->interval) order.emplace_back(row->probability(), row);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  size_t marked = 0;
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i].first <= kFalseMarks * static_cast<double>(i + 1) / static_cast<double>(order.size()))
      marked = i + 1;
  for (size_t i = 0; i < marked; ++i) order[i].second->marked = true;
}

std::optional<double> difference_interval(const std::vector<double>& a_us, const std::vector<double>& b_us,
                                          bool paired, double a_cv, double b_cv) {
  if (paired && !a_us.empty() && a_us.size() == b_us.size()) {
    std::vector<double> differences;
    for (size_t i = 0; i < a_us.size(); ++i) differences.push_back(b_us[i] - a_us[i]);
    return median_interval(std::move(differences));
  }
  double squares = 0;
  const auto add = [&](const std::vector<double>& samples, double cv) {
    if (samples.empty()) return true;
    const std::optional<double> half = median_interval(samples);
    if (!half) return false;
    const double drift = paired ? 0 : kSigmas * cv * median(samples);
    squares += *half * *half + drift * drift;
    return true;
  };
  if (!add(a_us, a_cv) || !add(b_us, b_cv)) return std::nullopt;
  return std::sqrt(squares);
}

}  // namespace baton
