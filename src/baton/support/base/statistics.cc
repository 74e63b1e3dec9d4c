#include "baton/support/base/statistics.h"

#include <algorithm>
#include <cmath>

namespace baton {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double percentile(std::vector<double> samples, double share) {
  if (samples.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(samples.size()));
  const size_t index = static_cast<size_t>(std::clamp(rank, 1.0, static_cast<double>(samples.size()))) - 1;
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(index), samples.end());
  return samples[index];
}

double quantile(std::span<const double> sorted, double share) {
  if (sorted.empty()) return 0;
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

double robust_deviation(const std::vector<double>& values) {
  constexpr double kOfNormal = 1.4826;  // standard deviation over median absolute deviation
  const double middle = median(values);
  std::vector<double> distances;
  for (const double each : values) distances.push_back(std::abs(each - middle));
  return kOfNormal * median(std::move(distances));
}

}  // namespace baton
