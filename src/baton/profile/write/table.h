#pragma once
// Text form of reports.
#include <ostream>
#include <string>

#include "baton/profile/report/rows.h"

namespace baton {

/// Prints kernels in execution order with their operators, totals, every operator's times side by side, and
/// operators without a time. `all`: including negligible ones. At most 120 columns.
void write_table(std::ostream& out, const ProfileReport& report, bool all = false);
/// The same as an HTML fragment, for notebooks.
std::string html(const ProfileReport& report);

}  // namespace baton
