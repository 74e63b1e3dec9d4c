#pragma once
// Answers of a store as tables: for people, as JSON and as files.
#include <ostream>
#include <string>
#include <vector>

#include "baton/profile/write/tables.h"
#include "baton/store/store_query.h"

namespace baton::cli {

/// The columns' kinds follow from their values.
ReportTable report_table(const StoreTable& table, const std::string& name);

/// A list of objects, one per row, in one line.
std::string json_rows(const StoreTable& table);

/// Columns side by side in at most `width` characters; long texts are cut.
void write_columns(std::ostream& out, const StoreTable& table, int width);

/// What write_measurements() needs of the view `rows`.
std::vector<std::string> shown_columns();
/// Prints rows of the view `rows`: what is measured, where and how, its time and rate.
void write_measurements(std::ostream& out, const StoreTable& rows, int width);

/// A sentence when the rows are of several machines or devices; else empty.
std::string places_note(const std::vector<StorePlace>& places);

}  // namespace baton::cli
