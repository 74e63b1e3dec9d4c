#pragma once
// A report as flat tables: kernels, operators, parts of kernels. CSV, Parquet and data frames are made from
// them. The columns are a contract: design note 0011.
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "baton/profile/report/rows.h"

namespace baton {

enum class CellKind { kFlag, kInteger, kNumber, kText, kIds };
const char* cell_kind_name(CellKind kind);  ///< "flag", "integer", "number", "text", "ids"

/// monostate: not known, not measured, does not apply.
using Cell = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<uint32_t>>;

struct TableColumn {
  std::string name;  ///< ends in its unit: median_us
  CellKind kind;
};

struct ReportTable {
  std::string name;
  std::vector<TableColumn> columns;
  std::vector<std::vector<Cell>> rows;  ///< each as long as `columns`
};

/// A row per kernel in the order of execution.
ReportTable kernels_table(const ProfileReport& report);
/// A row per operator of the source, by id, whether it has time or not.
ReportTable operators_table(const ProfileReport& report);
/// A row per part of a kernel, in the order of the kernels.
ReportTable parts_table(const ProfileReport& report);

/// The names of the three, in this order.
const std::vector<std::string>& table_names();
/// By name. Error for another one, with the nearest.
ReportTable report_table(const ProfileReport& report, const std::string& name);

/// {"name": ..., "columns": [{"name", "kind"}], "values": [[...] per column]}; unknown cells are null,
/// numbers that are not finite too.
nlohmann::ordered_json table_json(const ReportTable& table);

}  // namespace baton
