#pragma once
// Medians and quantiles of samples. All are 0 for no samples.
#include <span>
#include <vector>

namespace baton {

/// Mean of the two middle values for even counts.
double median(std::vector<double> values);
/// The value that `share` (0 to 1) of the samples do not exceed: the smallest such sample, so that the 99th
/// percentile of fewer than 100 samples is the largest.
double percentile(std::vector<double> samples, double share);
/// The quantile of values in ascending order, `share` from 0 to 1: between two of them in proportion.
double quantile(std::span<const double> sorted, double share);
/// Standard deviation of a sample by the median distance from the median, which outliers do not change.
double robust_deviation(const std::vector<double>& values);

}  // namespace baton
