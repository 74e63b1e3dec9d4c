#pragma once
// Text form of reports.
#include <ostream>
#include <string>

#include "baton/profile/report/rows.h"
#include "baton/profile/write/table_options.h"

namespace baton {

/// Prints what is known before anything is measured: model, target, threads, level, version and machine.
void write_heading(std::ostream& out, const ProfileReport& report, const TableOptions& options = {});
/// Prints the heading, then times by operator, the kernels that take longest, totals and notes; with `all`
/// every kernel with its operators, every operator's times side by side, and operators without a time. With
/// `by` a table of that in place of the first two.
void write_table(std::ostream& out, const ProfileReport& report, const TableOptions& options = {});
/// The same as an HTML fragment, for notebooks.
std::string html(const ProfileReport& report);

}  // namespace baton
