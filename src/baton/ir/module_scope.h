#pragma once
// The module that operators belong to which are made now, outside any pass: Python's `with
// baton.module(...)`.
#include <string>
#include <string_view>

#include "baton/ir/origin_place.h"

namespace baton {

/// Of this thread, as OriginScope is; null: no module. Scopes nest.
Ref<const OriginPlace> current_module();
/// Enters `name` within the current module, and returns the path of the latter, for leave_module().
std::string enter_module(const std::string& name);
void leave_module(const std::string& outer);

/// `module` within the current one.
std::string within_current_module(std::string_view module);

}  // namespace baton
