#pragma once
// The price of copies between the memories of two devices.
#include <atomic>
#include <string>

#include "baton/map/problem.h"
#include "baton/predict/predictor.h"
#include "baton/profile/report/device_rates.h"

namespace baton {

/// By copies of 4 kB and of 1 MB, or what fits. Throws Error when nothing can be copied.
MappingConversion measured_link(const FoundTarget& from, const FoundTarget& to);

/// By the predictor, or the link in the device's sheet; null: by the sheet. `from`, `to`: one is "cpu", the
/// other a backend with a device. Throws Error when neither knows it.
MappingConversion predicted_link(const std::string& from, const std::string& to, const BuildContext& context,
                                 const Predictor* predictor);

/// The time, with copies, of the mapping that would be the best if copies cost nothing; 0: there is none.
/// Throws Interrupted.
double us_without_links(const MappingProblem& problem, const std::atomic<bool>* interrupt);

}  // namespace baton
