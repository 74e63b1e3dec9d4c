#include "baton/profile/report/percentiles.h"

#include <algorithm>
#include <cmath>

namespace baton {

double percentile(std::vector<double> samples, double share) {
  if (samples.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(samples.size()));
  const size_t index = static_cast<size_t>(std::clamp(rank, 1.0, static_cast<double>(samples.size()))) - 1;
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(index), samples.end());
  return samples[index];
}

}  // namespace baton
