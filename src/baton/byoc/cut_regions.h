#pragma once
// Regions of a function become functions of the module.
#include <string>

#include "baton/pass/build_context.h"

namespace baton {

/// `function`, called `name` in `module`, with a call of `@<compiler>_<name>_<region>` for each region; these
/// functions are added to the module. Constants that enter a region are bound inside when `bind_constants` is
/// set. UsageError for regions that cannot be cut out.
Function cut_regions(IRModuleNode& module, const std::string& name, const Function& function,
                     bool bind_constants, const BuildContext& context);

}  // namespace baton
