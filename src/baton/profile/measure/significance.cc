#include "baton/profile/measure/significance.h"

#include <algorithm>
#include <cmath>

#include "baton/profile/measure/measure.h"

namespace baton {
namespace {

constexpr size_t kFewest = 6;  // 2 * 0.5^6 < 5 %
constexpr double kSigmas = 1.96;

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
