#pragma once
// Outlines regions of a function as functions of the module.
#include <string>

#include "baton/pass/build_context.h"

namespace baton {

/// `function`, called `name` in `module`, with each region replaced by a call of
/// `@<compiler>_<name>_<region>`; these functions are added to the module. With `bind_constants`, constants
/// that enter a region are bound inside. UsageError for regions that cannot be outlined.
Function cut_regions(IRModuleNode& module, const std::string& name, const Function& function,
                     bool bind_constants, const BuildContext& context);

}  // namespace baton
