#pragma once
// How samples become the time of a measurement, whichever protocol took them.
#include <optional>
#include <string>

#include "baton/clock/estimate.h"
#include "baton/store/measurement.h"

namespace baton {

/// Sets what a measurement says of its time: samples, those that count before those that do not, outliers
/// among the former (outliers_of()), median, variation, interval, the core's clock, and whether it is only a
/// guess (doubt_of()).
void set_time(Measurement& measurement, const Estimate& time);

/// A time from beside other programs is no worse than its +- says: what ran there, when this is more than a
/// fifth of the time, or not known; else empty.
inline constexpr double kWidestTime = 0.2;
std::string doubt_of(const std::string& under_load, const std::optional<double>& plus_minus_us, double us);

}  // namespace baton
