#pragma once
// What the table of a profile says of a program of the virtual machine.
#include <ostream>

#include "baton/profile/report/rows.h"
#include "baton/profile/write/table_options.h"

namespace baton {

/// "x float32[17, 64], n int32": what it was run on.
std::string inputs_text(const ProfileReport& report);

/// Loops and branches, the longest first; nothing for a program without.
void write_control_flow(std::ostream& out, const ProfileReport& report, const TableOptions& options);

}  // namespace baton
