#pragma once
// Curves over extents as a table, CSV, and a page.
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "baton/profile/write/files.h"
#include "baton/profile/write/table.h"
#include "baton/support/json.h"

namespace baton {

/// The kinds of files of a curve: .json, .csv, .html, .txt.
const std::vector<FileKind>& curve_kinds();
/// The contents of one. `points`: is_curve().
std::string curve_bytes(std::span<const ProfileReport> points, const WantedFile& file);

/// A row for each operator, the longest first, a column for each point; as many of these as fit.
void write_curve(std::ostream& out, std::span<const ProfileReport> points, const TableOptions& options);

/// What the page shows.
Json curve_json(std::span<const ProfileReport> points);
/// The template: src/baton/profile/curve_page.
std::string_view curve_page_template();

}  // namespace baton
