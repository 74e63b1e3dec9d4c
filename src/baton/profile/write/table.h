#pragma once
// A report for people.
#include <ostream>
#include <string>

#include "baton/profile/report/rows.h"

namespace baton {

/// For people: kernels in the order of execution, their operators below them, totals, then every operator's
/// times side by side, and what has no time of its own. `all`: also what is too short to matter. At most 120
/// columns.
void write_table(std::ostream& out, const ProfileReport& report, bool all = false);
/// The same as a piece of HTML, for notebooks.
std::string html(const ProfileReport& report);

}  // namespace baton
