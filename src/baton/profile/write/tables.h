#pragma once
// A report as flat tables: kernels, operators, parts of kernels; the source of CSV, Parquet and data frames.
// The columns are a contract: design note 0011.
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "baton/profile/report/rows.h"
#include "baton/support/json.h"

namespace baton {

enum class CellKind { kFlag, kInteger, kNumber, kText, kIds };
const char* cell_kind_name(CellKind kind);  ///< "flag", "integer", "number", "text", "ids"

/// monostate: unknown, not measured, or not applicable.
using Cell = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<uint32_t>>;

struct TableColumn {
  std::string name;  ///< with its unit as suffix: median_us
  CellKind kind;
};

struct ReportTable {
  std::string name;
  std::vector<TableColumn> columns;
  std::vector<std::vector<Cell>> rows;  ///< each as long as `columns`
};

/// One row per kernel, in execution order.
ReportTable kernels_table(const ProfileReport& report);
/// One row per source operator, by id, including those without times.
ReportTable operators_table(const ProfileReport& report);
/// One row per part of a kernel, in kernel order.
ReportTable parts_table(const ProfileReport& report);
/// One row per kernel of the base and other backend, in execution order; none without a comparison.
ReportTable comparison_table(const ProfileReport& report);

/// The name of the last, which files have only when they are asked for it.
inline constexpr char kComparisonTable[] = "comparison";
/// The names of the other three, in this order.
const std::vector<std::string>& table_names();
/// The named table. Throws Error for an unknown name, suggesting the nearest.
ReportTable report_table(const ProfileReport& report, const std::string& name);

/// The rows of several reports in one table, which the columns model, target, machine, threads, opt_level and
/// version tell apart.
ReportTable report_table(std::span<const ProfileReport> reports, const std::string& name);

/// {"name": ..., "columns": [{"name", "kind"}], "values": [[...] per column]}; unknown cells and non-finite
/// numbers are null.
Json table_json(const ReportTable& table);

}  // namespace baton
