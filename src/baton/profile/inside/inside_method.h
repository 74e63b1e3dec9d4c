#pragma once
// The methods of attributing kernel time (design D4); those of regions are measured by their plug-in (0033).
#include <string>

namespace baton {

enum class InsideMethod { kWhole, kMarkers, kAblation, kSampling, kParts, kPredicted };
const char* method_name(InsideMethod method);        ///< "whole", "markers", "ablation", "sampling", "parts",
                                                     ///< "predicted"
InsideMethod method_named(const std::string& name);  ///< Error for an unknown name

}  // namespace baton
