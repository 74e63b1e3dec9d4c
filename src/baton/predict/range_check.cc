#include "baton/predict/range_check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace baton {

namespace {

constexpr double kFar = 10;           // of a kind that training did not have
constexpr float kLeastScale = 0.25F;  // of features that hardly vary: a quarter of a doubling
constexpr float kMargin = 0.1F;       // of the range, and beyond it
constexpr float kLeastMargin = 0.25F;

/// As files keep it.
float in_steps(float scaled) {
  const float most = std::numeric_limits<int16_t>::max() * RangeCheck::kStep;
  return std::round(std::clamp(scaled, -most, most) / RangeCheck::kStep) * RangeCheck::kStep;
}

}  // namespace

RangeCheck RangeCheck::of(const FeatureSpace& space, const FeatureRows& rows) {
  RangeCheck check;
  for (size_t i = 0; i < space.size(); ++i) {
    const FeatureInfo& feature = space.features()[i];
    if (!feature.is_near) continue;
    (feature.name.starts_with("is ") ? check.kinds : check.columns).push_back(static_cast<int>(i));
  }
  const size_t n = rows.rows();
  for (const int column : check.columns) {
    float low = std::numeric_limits<float>::max(), high = std::numeric_limits<float>::lowest();
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; ++i) {
      const float value = rows.row(i)[static_cast<size_t>(column)];
      low = std::min(low, value);
      high = std::max(high, value);
      sum += value;
      squares += static_cast<double>(value) * value;
    }
    const double mean = n ? sum / static_cast<double>(n) : 0;
    const double variance = n ? std::max(0.0, squares / static_cast<double>(n) - mean * mean) : 0;
    check.low.push_back(low);
    check.high.push_back(high);
    check.scale.push_back(std::max(kLeastScale, static_cast<float>(std::sqrt(variance))));
  }
  std::map<uint32_t, std::vector<size_t>> by_kind;
  for (size_t i = 0; i < n; ++i) by_kind[check.kind_of(rows.row(i))].push_back(i);
  for (const auto& [kind, members] : by_kind) {
    const size_t used = std::min(members.size(), kMostNeighbours);
    std::vector<float>& all = check.neighbours[kind];
    for (size_t i = 0; i < used; ++i) {
      const std::span<const float> row = rows.row(members[i * members.size() / used]);
      for (size_t c = 0; c < check.columns.size(); ++c)
        all.push_back(in_steps(row[static_cast<size_t>(check.columns[c])] / check.scale[c]));
    }
  }
  return check;
}

uint32_t RangeCheck::kind_of(std::span<const float> row) const {
  uint32_t kind = 0;
  for (size_t i = 0; i < kinds.size(); ++i) kind |= (row[static_cast<size_t>(kinds[i])] != 0 ? 1U : 0U) << i;
  return kind;
}

double RangeCheck::distance(std::span<const float> row) const {
  const auto at = neighbours.find(kind_of(row));
  if (at == neighbours.end()) return kFar;
  std::vector<float> scaled(columns.size());
  for (size_t c = 0; c < columns.size(); ++c) scaled[c] = row[static_cast<size_t>(columns[c])] / scale[c];
  float nearest = std::numeric_limits<float>::max(), second = nearest;
  for (size_t first = 0; first < at->second.size(); first += columns.size()) {
    float sum = 0;
    for (size_t c = 0; c < columns.size(); ++c) {
      const float difference = at->second[first + c] - scaled[c];
      sum += difference * difference;
    }
    if (sum < nearest) {
      second = nearest;
      nearest = sum;
    } else if (sum < second) {
      second = sum;
    }
  }
  if (second == std::numeric_limits<float>::max()) second = nearest;
  return (std::sqrt(static_cast<double>(nearest)) + std::sqrt(static_cast<double>(second))) / 2;
}

std::string RangeCheck::outside(std::span<const float> row, const FeatureSpace& space) const {
  for (size_t c = 0; c < columns.size(); ++c) {
    const float value = row[static_cast<size_t>(columns[c])];
    const float margin = std::max(kLeastMargin, kMargin * (high[c] - low[c]));
    if (value >= low[c] - margin && value <= high[c] + margin) continue;
    char text[160];
    std::snprintf(text, sizeof text, "%s %.3g, in training %s %.3g",
                  space.features()[static_cast<size_t>(columns[c])].name.c_str(), static_cast<double>(value),
                  value < low[c] ? "at least" : "at most",
                  static_cast<double>(value < low[c] ? low[c] : high[c]));
    return text;
  }
  return "";
}

}  // namespace baton
