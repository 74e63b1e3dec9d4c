#pragma once
// The three methods (design D4) of attributing kernel time.
#include <string>

namespace baton {

enum class InsideMethod { kWhole, kMarkers, kAblation, kSampling };
const char* method_name(InsideMethod method);        ///< "whole", "markers", "ablation", "sampling"
InsideMethod method_named(const std::string& name);  ///< Error for an unknown name

}  // namespace baton
