#pragma once
// By which of the three methods (design D4) a part of a kernel's time is known.
#include <string>

namespace baton {

enum class InsideMethod { kWhole, kMarkers, kAblation, kSampling };
const char* method_name(InsideMethod method);        ///< "whole", "markers", "ablation", "sampling"
InsideMethod method_named(const std::string& name);  ///< Error for another name

}  // namespace baton
