#pragma once
// Simulated devices as backends: one record per device sheet.
#include <string>

#include "baton/codegen/backend.h"
#include "baton/codegen/sim/sheet.h"

namespace baton {

/// The backend `sim_<name>` of a sheet. `device_type`: from BATON_FIRST_SIMULATED_KIND on.
Backend sim_backend(SimSheet sheet, int device_type);

/// The kind of target that `sim -sheet=<sheet>` stands for. `sheet`: the name of one that ships, or of a
/// file, which is read anew and registered as a backend. UsageError for a name that does not exist, a sheet
/// with nonsense, and two files whose sheets have one name.
std::string sim_kind(const std::string& sheet);

}  // namespace baton
