#pragma once
// The pass AnnotateTarget with a restriction that text cannot say.
#include <functional>
#include <string>
#include <vector>

#include "baton/pass/pass.h"

namespace baton {

/// Whether a compiler may get a call of an operator that it takes.
using MayCompute = std::function<bool(const CallNode& call, const std::string& compiler)>;

/// AnnotateTarget with all rules, also offered ones, and `may`; composites are not asked about.
Pass annotate_target(std::vector<std::string> compilers, MayCompute may);

}  // namespace baton
