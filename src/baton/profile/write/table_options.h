#pragma once
// What of a report its table shows, and how.
#include <optional>
#include <string>
#include <vector>

namespace baton {

/// How the table's kernels are ordered.
enum class TableOrder { kTime, kNode, kRoof, kVariation };
/// "time", "node", "roof", "cv": as --sort takes them.
const std::vector<std::string>& table_orders();
/// Throws UsageError for another name, suggesting the nearest.
TableOrder table_order(const std::string& name);

/// What the rows of the table are.
enum class TableBy { kSummary, kOperator, kModule, kSource, kKernel };
/// "operator", "module", "source", "kernel": as --by takes them. There is no name for kSummary.
const std::vector<std::string>& table_views();
/// kSummary for "". Throws UsageError for another name, suggesting the nearest.
TableBy table_by(const std::string& name);

struct TableOptions {
  bool all = false;  ///< every kernel with its parts, every operator, and what has no time
  int top = 10;      ///< kernels shown unless `all`; 0: all of them, without parts
  std::optional<TableOrder> order = {};  ///< not given: by time; of `all` the order of execution
  int width = 120;                       ///< columns; at least 75
  bool colour = false;                   ///< ANSI escapes: bold, and colours by share
  bool heading = true;                   ///< false: write_heading() has written it already
  TableBy by = TableBy::kSummary;
};

}  // namespace baton
