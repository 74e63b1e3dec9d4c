#include "baton/profile/write/tables.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "baton/driver/origins/record_json.h"
#include "baton/profile/report/portions.h"
#include "baton/profile/report/report_text.h"
#include "baton/profile/report/titles.h"
#include "baton/profile/views/module_tree.h"
#include "baton/support/base/statistics.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton {
namespace {

Cell text_or_none(const std::string& text) { return text.empty() ? Cell() : Cell(text); }
Cell number_or_none(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }
Cell integer(uint64_t value) { return static_cast<int64_t>(value); }

// "nn.conv2d, nn.relu"
std::string ops_of(const ProfileReport& report, const std::vector<uint32_t>& ids) {
  std::string text;
  for (uint32_t id : ids) text += (text.empty() ? "" : ", ") + report.operators.at(id).op;
  return text;
}

Cell least(const std::vector<double>& samples) {
  return samples.empty() ? Cell() : Cell(*std::min_element(samples.begin(), samples.end()));
}
Cell most(const std::vector<double>& samples) {
  return samples.empty() ? Cell() : Cell(*std::max_element(samples.begin(), samples.end()));
}

// The model and how it was measured: the same for all rows of a report, so that tables can be put together.
const std::vector<TableColumn>& context_columns() {
  using enum CellKind;
  static const std::vector<TableColumn> columns = {
      {"model", kText},        {"target", kText},    {"machine", kText}, {"threads", kInteger},
      {"opt_level", kInteger}, {"precision", kText}, {"version", kText}};
  return columns;
}

std::vector<Cell> context_cells(const ProfileReport& report) {
  return {report.model,
          report.target,
          text_or_none(report.machine),
          integer(static_cast<uint64_t>(report.threads)),
          report.opt_level < 0 ? Cell() : Cell(static_cast<int64_t>(report.opt_level)),
          text_or_none(report.precision),
          report.version};
}

ReportTable with_context(ReportTable table, const ProfileReport& report) {
  const std::vector<TableColumn>& columns = context_columns();
  table.columns.insert(table.columns.begin(), columns.begin(), columns.end());
  const std::vector<Cell> cells = context_cells(report);
  for (std::vector<Cell>& row : table.rows) row.insert(row.begin(), cells.begin(), cells.end());
  return table;
}

Cell shape_cell(const std::string& type) { return text_or_none(shape_in(type)); }

Cell data_shape(const OperatorRow& row) {
  return row.input_types.empty() ? Cell() : shape_cell(row.input_types[0]);
}

// "2x2"; empty where the operator has no strides, or has those that are the default.
Cell strides_of(const OperatorRow& row) {
  for (const auto& [name, value] : row.attrs) {
    if (name != "strides") continue;
    std::string text;
    if (const AttrList* list = value.as<AttrList>())
      for (const AttrValue& item : *list) text += (text.empty() ? "" : "x") + attr_text(item);
    return text.empty() ? Cell(attr_text(value)) : Cell(text);
  }
  return {};
}

// "net.py:31"; empty where no line of Python is known.
Cell source_line(const OperatorRow& row) {
  const SourceLine line = row.written();
  return line ? Cell(line.file + ":" + std::to_string(line.line)) : Cell();
}

// A rate; empty when the amount is unknown.
Cell rate(double amount, double per_second) { return amount > 0 ? Cell(per_second) : Cell(); }

}  // namespace

const char* cell_kind_name(CellKind kind) {
  switch (kind) {
    case CellKind::kFlag:
      return "flag";
    case CellKind::kInteger:
      return "integer";
    case CellKind::kNumber:
      return "number";
    case CellKind::kText:
      return "text";
    case CellKind::kIds:
      return "ids";
  }
  return "";
}

namespace {

/// A column of a table of `Subject`s: its name and kind, and what it holds.
template <class Subject>
struct Column {
  const char* name;
  CellKind kind;
  Cell (*cell)(const Subject&);
};

template <class Subject>
ReportTable table_of(const char* name, std::span<const Column<Subject>> columns,
                     const std::vector<Subject>& subjects) {
  ReportTable table{name, {}, {}};
  for (const Column<Subject>& column : columns) table.columns.push_back({column.name, column.kind});
  for (const Subject& subject : subjects) {
    std::vector<Cell>& row = table.rows.emplace_back();
    for (const Column<Subject>& column : columns) row.push_back(column.cell(subject));
  }
  return table;
}

struct KernelCells {
  const ProfileReport& report;
  const KernelRow& row;
  const OperatorRow* lead;  ///< the operator that its shapes are those of; null: none

  bool split() const { return !row.inside.empty(); }
  std::string template_name() const {
    const auto function = report.functions.find(row.func_name);
    return function == report.functions.end() ? "" : function->second.template_name;
  }
};

struct OperatorCells {
  const OperatorRow& row;
  const OperatorTime& time;
  double kernels_us;  ///< of all its kernels
};

}  // namespace

ReportTable kernels_table(const ProfileReport& report) {
  using enum CellKind;
  static constexpr Column<KernelCells> kColumns[] = {
      {"node", kInteger, [](const KernelCells& k) -> Cell { return integer(k.row.node); }},
      {"title", kText, [](const KernelCells& k) -> Cell { return k.row.title; }},
      {"kernel", kText, [](const KernelCells& k) -> Cell { return k.row.name; }},
      {"func_name", kText, [](const KernelCells& k) -> Cell { return k.row.func_name; }},
      {"data_shape", kText,
       [](const KernelCells& k) -> Cell { return k.lead ? data_shape(*k.lead) : Cell(); }},
      {"weight_shape", kText,
       [](const KernelCells& k) -> Cell { return k.lead ? shape_cell(k.lead->weight) : Cell(); }},
      {"strides", kText, [](const KernelCells& k) -> Cell { return k.lead ? strides_of(*k.lead) : Cell(); }},
      {"result_shape", kText,
       [](const KernelCells& k) -> Cell { return k.lead ? shape_cell(k.lead->type) : Cell(); }},
      {"compiler", kText, [](const KernelCells& k) -> Cell { return text_or_none(k.row.compiler); }},
      {"template", kText, [](const KernelCells& k) -> Cell { return text_or_none(k.template_name()); }},
      {"median_us", kNumber, [](const KernelCells& k) -> Cell { return k.row.median_us; }},
      {"share", kNumber, [](const KernelCells& k) -> Cell { return k.row.share; }},
      {"min_us", kNumber, [](const KernelCells& k) -> Cell { return least(k.row.samples_us); }},
      {"max_us", kNumber, [](const KernelCells& k) -> Cell { return most(k.row.samples_us); }},
      {"p90_us", kNumber,
       [](const KernelCells& k) -> Cell {
         return k.row.samples_us.empty() ? Cell() : Cell(percentile(k.row.samples_us, 0.9));
       }},
      {"p99_us", kNumber,
       [](const KernelCells& k) -> Cell {
         return k.row.samples_us.empty() ? Cell() : Cell(percentile(k.row.samples_us, 0.99));
       }},
      {"cv", kNumber,
       [](const KernelCells& k) -> Cell { return k.row.samples_us.size() < 2 ? Cell() : Cell(k.row.cv); }},
      {"samples", kInteger, [](const KernelCells& k) -> Cell { return integer(k.row.samples_us.size()); }},
      {"origins", kIds, [](const KernelCells& k) -> Cell { return k.row.origins; }},
      {"ops", kText, [](const KernelCells& k) -> Cell { return ops_of(k.report, k.row.origins); }},
      {"made_for", kIds, [](const KernelCells& k) -> Cell { return k.row.made_for; }},
      {"reason", kText, [](const KernelCells& k) -> Cell { return text_or_none(k.row.reason); }},
      {"inputs", kIds, [](const KernelCells& k) -> Cell { return k.row.inputs; }},
      {"flops", kNumber, [](const KernelCells& k) -> Cell { return k.row.flops; }},
      {"bytes", kNumber, [](const KernelCells& k) -> Cell { return k.row.bytes; }},
      {"result_bytes", kNumber, [](const KernelCells& k) -> Cell { return k.row.result_bytes; }},
      {"live_bytes", kNumber, [](const KernelCells& k) -> Cell { return k.row.live_bytes; }},
      {"dtype", kText, [](const KernelCells& k) -> Cell { return text_or_none(k.row.roofline.dtype); }},
      {"intensity", kNumber,
       [](const KernelCells& k) -> Cell {
         return k.row.bytes > 0 ? Cell(k.row.roofline.intensity) : Cell();
       }},
      {"gflops", kNumber,
       [](const KernelCells& k) -> Cell { return rate(k.row.flops, k.row.roofline.gflops); }},
      {"gbytes_per_s", kNumber,
       [](const KernelCells& k) -> Cell { return rate(k.row.bytes, k.row.roofline.gbytes_per_s); }},
      {"roofline", kNumber,
       [](const KernelCells& k) -> Cell {
         return k.row.roofline.bound.empty() ? Cell() : Cell(k.row.roofline.share);
       }},
      {"bound", kText, [](const KernelCells& k) -> Cell { return text_or_none(k.row.roofline.bound); }},
      {"nominal", kFlag, [](const KernelCells& k) -> Cell { return k.row.roofline.nominal; }},
      {"stage_sum", kNumber,
       [](const KernelCells& k) -> Cell { return k.split() ? Cell(k.row.stage_sum) : Cell(); }},
      {"noise", kNumber, [](const KernelCells& k) -> Cell { return k.split() ? Cell(k.row.noise) : Cell(); }},
      {"trusted", kFlag,
       [](const KernelCells& k) -> Cell { return k.split() ? Cell(k.row.trusted) : Cell(); }},
      {"plus_minus_us", kNumber,
       [](const KernelCells& k) -> Cell { return number_or_none(k.row.plus_minus_us); }},
      {"under_load", kText, [](const KernelCells& k) -> Cell { return text_or_none(k.row.under_load); }},
      {"calls_per_sample", kInteger,
       [](const KernelCells& k) -> Cell { return integer(static_cast<uint64_t>(k.row.calls_per_sample)); }},
      {"split_at", kInteger,
       [](const KernelCells& k) -> Cell { return k.row.split_at ? integer(*k.row.split_at) : Cell(); }},
      {"simulated", kText, [](const KernelCells& k) -> Cell { return text_or_none(k.row.simulated); }},
      {"module", kText,
       [](const KernelCells& k) -> Cell {
         return text_or_none(common_module(k.report, k.row.origins.empty() ? k.row.made_for : k.row.origins));
       }},
      {"source_line", kText,
       [](const KernelCells& k) -> Cell { return k.lead ? source_line(*k.lead) : Cell(); }},
  };
  std::vector<KernelCells> kernels;
  for (const KernelRow& row : report.kernels)
    kernels.push_back(
        {report, row,
         row.origins.empty() ? nullptr : &report.operators.at(leading_operator(report, row.origins))});
  return with_context(table_of<KernelCells>("kernels", kColumns, kernels), report);
}

ReportTable operators_table(const ProfileReport& report) {
  using enum CellKind;
  static constexpr Column<OperatorCells> kColumns[] = {
      {"id", kInteger, [](const OperatorCells& o) -> Cell { return integer(o.row.id); }},
      {"op", kText, [](const OperatorCells& o) -> Cell { return o.row.op; }},
      {"title", kText, [](const OperatorCells& o) -> Cell { return text_or_none(operator_name(o.row)); }},
      {"file", kText, [](const OperatorCells& o) -> Cell { return text_or_none(o.row.file); }},
      {"line", kInteger,
       [](const OperatorCells& o) -> Cell { return o.row.line ? integer(o.row.line) : Cell(); }},
      {"column", kInteger,
       [](const OperatorCells& o) -> Cell { return o.row.column ? integer(o.row.column) : Cell(); }},
      {"source", kText, [](const OperatorCells& o) -> Cell { return text_or_none(o.row.source); }},
      {"type", kText, [](const OperatorCells& o) -> Cell { return text_or_none(o.row.type); }},
      {"data_shape", kText, [](const OperatorCells& o) -> Cell { return data_shape(o.row); }},
      {"weight_shape", kText, [](const OperatorCells& o) -> Cell { return shape_cell(o.row.weight); }},
      {"strides", kText, [](const OperatorCells& o) -> Cell { return strides_of(o.row); }},
      {"flops", kNumber, [](const OperatorCells& o) -> Cell { return o.row.flops; }},
      {"bytes", kNumber, [](const OperatorCells& o) -> Cell { return o.row.bytes; }},
      {"attrs", kText, [](const OperatorCells& o) -> Cell { return Cell(attrs_json(o.row).dump()); }},
      {"inputs", kIds, [](const OperatorCells& o) -> Cell { return o.row.inputs; }},
      {"nodes", kIds, [](const OperatorCells& o) -> Cell { return o.row.nodes; }},
      {"kernels_us", kNumber,
       [](const OperatorCells& o) -> Cell { return o.time.has_kernel ? Cell(o.kernels_us) : Cell(); }},
      {"us", kNumber,
       [](const OperatorCells& o) -> Cell { return o.time.has_kernel ? Cell(o.time.us) : Cell(); }},
      {"us_by", kText,
       [](const OperatorCells& o) -> Cell {
         return o.time.has_kernel ? Cell(portion_name(o.time.by)) : Cell();
       }},
      {"inside_us", kNumber, [](const OperatorCells& o) -> Cell { return number_or_none(o.row.inside_us); }},
      {"unfused_us", kNumber,
       [](const OperatorCells& o) -> Cell { return number_or_none(o.row.unfused_us); }},
      {"fused_with", kIds, [](const OperatorCells& o) -> Cell { return o.row.fused_with; }},
      {"not_fused", kText, [](const OperatorCells& o) -> Cell { return text_or_none(o.row.not_fused); }},
      {"folded_into", kIds, [](const OperatorCells& o) -> Cell { return o.row.folded_into; }},
      {"retired_by", kText, [](const OperatorCells& o) -> Cell { return text_or_none(o.row.retired_by); }},
      {"retired_why", kText, [](const OperatorCells& o) -> Cell { return text_or_none(o.row.retired_why); }},
      {"module", kText, [](const OperatorCells& o) -> Cell { return text_or_none(o.row.module); }},
      {"source_line", kText, [](const OperatorCells& o) -> Cell { return source_line(o.row); }},
  };
  const std::vector<OperatorTime> times = operator_times(report);
  std::map<uint32_t, double> us_of_node;
  for (const KernelRow& row : report.kernels) us_of_node[row.node] = row.median_us;
  std::vector<OperatorCells> operators;
  for (const OperatorRow& row : report.operators) {
    double kernels_us = 0;
    for (uint32_t node : row.nodes)
      if (const auto at = us_of_node.find(node); at != us_of_node.end()) kernels_us += at->second;
    operators.push_back({row, times[row.id], kernels_us});
  }
  return with_context(table_of<OperatorCells>("operators", kColumns, operators), report);
}

ReportTable parts_table(const ProfileReport& report) {
  using enum CellKind;
  ReportTable table{"parts",
                    {{"node", kInteger},     {"title", kText},      {"kernel", kText},
                     {"part", kInteger},     {"ids", kIds},         {"ops", kText},
                     {"file", kText},        {"line", kInteger},    {"source", kText},
                     {"label", kText},       {"stage", kText},      {"share", kNumber},
                     {"us", kNumber},        {"method", kText},     {"rest", kFlag},
                     {"below_noise", kFlag}, {"trusted", kFlag},    {"plus_minus_us", kNumber},
                     {"module", kText},      {"source_line", kText}},
                    {}};
  for (const KernelRow& row : report.kernels) {
    for (size_t i = 0; i < row.inside.size(); ++i) {
      const InsideRow& part = row.inside[i];
      const OperatorRow* first = part.ids.empty() ? nullptr : &report.operators.at(part.ids[0]);
      table.rows.push_back({integer(row.node),
                            row.title,
                            row.name,
                            integer(i),
                            part.ids,
                            ops_of(report, part.ids),
                            first ? text_or_none(first->file) : Cell(),
                            first && first->line ? integer(first->line) : Cell(),
                            first ? text_or_none(first->source) : Cell(),
                            part.label.empty() ? Cell("load, store, loop") : Cell(part.label),
                            text_or_none(part.stage),
                            part.share,
                            part.us,
                            method_name(part.method),
                            part.rest,
                            part.below_noise,
                            row.trusted,
                            number_or_none(part.plus_minus_us),
                            text_or_none(common_module(report, part.ids.empty() ? row.origins : part.ids)),
                            first ? source_line(*first) : Cell()});
    }
  }
  return with_context(std::move(table), report);
}

ReportTable comparison_table(const ProfileReport& report) {
  using enum CellKind;
  ReportTable table{"comparison",
                    {{"node", kInteger},        {"calls", kInteger},      {"title", kText},
                     {"func_name", kText},      {"origins", kIds},        {"ops", kText},
                     {"base", kText},           {"own_us", kNumber},      {"backend", kText},
                     {"verdict", kText},        {"why", kText},           {"kernels_us", kNumber},
                     {"copies_us", kNumber},    {"layouts_us", kNumber},  {"total_us", kNumber},
                     {"ratio", kNumber},        {"interval_us", kNumber}, {"run_us", kNumber},
                     {"copied_bytes", kNumber}, {"kernels", kInteger},    {"largest_difference", kNumber}},
                    {}};
  if (report.comparison)
    for (const ComparedFunction& function : report.comparison->functions)
      for (const OffloadRow& row : function.others) {
        const bool timed = row.kernels > 0;
        const auto time = [&](double us) { return timed ? Cell(us) : Cell(); };
        table.rows.push_back({integer(function.node),
                              integer(function.nodes.size()),
                              function.title,
                              function.func_name,
                              function.origins,
                              text_or_none(ops_of(report, function.origins)),
                              function.backend,
                              function.own_us > 0 ? Cell(function.own_us) : Cell(),
                              row.backend,
                              std::string(verdict_name(row.verdict)),
                              text_or_none(row.why),
                              time(row.kernels_us),
                              time(row.copies_us),
                              time(row.layouts_us),
                              time(row.total_us),
                              timed && function.own_us > 0 ? Cell(row.total_us / function.own_us) : Cell(),
                              number_or_none(row.interval_us),
                              time(row.run_us),
                              time(row.copied_bytes),
                              integer(row.kernels),
                              row.largest_difference});
      }
  return with_context(std::move(table), report);
}

const std::vector<std::string>& table_names() {
  static const std::vector<std::string> names = {"kernels", "operators", "parts"};
  return names;
}

ReportTable report_table(const ProfileReport& report, const std::string& name) {
  if (name == "kernels") return kernels_table(report);
  if (name == "operators") return operators_table(report);
  if (name == "parts") return parts_table(report);
  if (name == kComparisonTable) return comparison_table(report);
  const std::string near = did_you_mean(name, table_names());
  throw Error("a report has no table `" + name + "`" +
              (near.empty() ? "" : "; did you mean `" + near + "`?") +
              " There are kernels, operators, parts and comparison");
}

ReportTable report_table(std::span<const ProfileReport> reports, const std::string& name) {
  ReportTable all;
  for (const ProfileReport& report : reports) {
    ReportTable table = report_table(report, name);
    if (all.name.empty()) all = {table.name, std::move(table.columns), {}};
    std::move(table.rows.begin(), table.rows.end(), std::back_inserter(all.rows));
  }
  return all;
}

Json table_json(const ReportTable& table) {
  Json columns = Json::array(), values = Json::array();
  for (size_t i = 0; i < table.columns.size(); ++i) {
    columns.push_back({{"name", table.columns[i].name}, {"kind", cell_kind_name(table.columns[i].kind)}});
    Json column = Json::array();
    for (const std::vector<Cell>& row : table.rows)
      std::visit(
          [&](const auto& value) {
            using Value = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, std::monostate>)
              column.push_back(nullptr);
            else if constexpr (std::is_same_v<Value, double>)
              column.push_back(std::isfinite(value) ? Json(value) : nullptr);
            else
              column.push_back(value);
          },
          row[i]);
    values.push_back(std::move(column));
  }
  return {{"name", table.name}, {"columns", std::move(columns)}, {"values", std::move(values)}};
}

}  // namespace baton
