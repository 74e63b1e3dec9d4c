#pragma once
// Tables by operator, by module and by line of source: what `--by` asks for in place of the summary.
#include <ostream>

#include "baton/profile/report/rows.h"
#include "baton/profile/write/table_options.h"

namespace baton {

/// Every operator with its part of the time, longest first; `options.top` of them unless `options.all`.
void write_by_operator(std::ostream& out, const ProfileReport& report, const TableOptions& options);

/// The tree of modules. Unless `options.all`, modules of the same structure are one row, the small ones of a
/// module too, and operators are left out.
void write_by_module(std::ostream& out, const ProfileReport& report, const TableOptions& options);

/// Files with the time beside each line; without a file's text, a row for each line. Unless `options.all`,
/// only lines near those that take time.
void write_by_source(std::ostream& out, const ProfileReport& report, const TableOptions& options);

/// Two builds of a model, module by module: the times of both.
void write_by_module(std::ostream& out, const ProfileReport& a, const ProfileReport& b, int width);

}  // namespace baton
