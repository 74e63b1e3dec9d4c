#pragma once
// How large the Funcs of a kernel are. For .cc files of schedule only.
#include <cstdint>
#include <map>
#include <string>

#include "baton/schedule/template.h"

namespace baton {

/// How many elements of each Func the kernel's outputs need, before anything is scheduled. Those whose number
/// depends on data are left out.
std::map<std::string, int64_t> needed_elements(const LoweredKernel& kernel);

}  // namespace baton
