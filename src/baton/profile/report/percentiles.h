#pragma once
// What a user of the model waits for: percentiles of whole runs.
#include <vector>

namespace baton {

/// The value that `share` (0 to 1) of the samples do not exceed: the smallest such sample, so that the 99th
/// percentile of fewer than 100 samples is the largest. 0 without samples.
double percentile(std::vector<double> samples, double share);

}  // namespace baton
