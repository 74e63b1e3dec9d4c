#pragma once
// The comparison of backends as text.
#include <ostream>

#include "baton/profile/report/rows.h"
#include "baton/profile/write/table_options.h"

namespace baton {

/// A line per kernel of the base with its time, below it a line per other backend: kernels, copies, changes
/// of layout, their sum, its ratio to the base's time, the verdict. Then the whole program on the base, and
/// with each function at its fastest place. `comparison` of the report must be there.
void write_comparison(std::ostream& out, const ProfileReport& report, const TableOptions& options = {});

}  // namespace baton
