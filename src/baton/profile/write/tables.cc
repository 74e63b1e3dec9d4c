#include "baton/profile/write/tables.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "baton/driver/origins/record_json.h"
#include "baton/profile/report/portions.h"
#include "baton/profile/report/report_text.h"
#include "baton/profile/report/titles.h"
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

ReportTable kernels_table(const ProfileReport& report) {
  using enum CellKind;
  ReportTable table{"kernels",
                    {{"node", kInteger},        {"title", kText},
                     {"kernel", kText},         {"func_name", kText},
                     {"data_shape", kText},     {"weight_shape", kText},
                     {"strides", kText},        {"result_shape", kText},
                     {"compiler", kText},       {"template", kText},
                     {"median_us", kNumber},    {"share", kNumber},
                     {"min_us", kNumber},       {"max_us", kNumber},
                     {"p90_us", kNumber},       {"p99_us", kNumber},
                     {"cv", kNumber},           {"samples", kInteger},
                     {"origins", kIds},         {"ops", kText},
                     {"made_for", kIds},        {"reason", kText},
                     {"inputs", kIds},          {"flops", kNumber},
                     {"bytes", kNumber},        {"result_bytes", kNumber},
                     {"live_bytes", kNumber},   {"dtype", kText},
                     {"intensity", kNumber},    {"gflops", kNumber},
                     {"gbytes_per_s", kNumber}, {"roofline", kNumber},
                     {"bound", kText},          {"nominal", kFlag},
                     {"stage_sum", kNumber},    {"noise", kNumber},
                     {"trusted", kFlag},        {"plus_minus_us", kNumber},
                     {"under_load", kText},     {"calls_per_sample", kInteger},
                     {"split_at", kInteger},    {"simulated", kText}},
                    {}};
  for (const KernelRow& row : report.kernels) {
    const auto function = report.functions.find(row.func_name);
    const bool split = !row.inside.empty();
    const Roofline& roof = row.roofline;
    const OperatorRow* lead =
        row.origins.empty() ? nullptr : &report.operators.at(leading_operator(report, row.origins));
    table.rows.push_back(
        {integer(row.node),
         row.title,
         row.name,
         row.func_name,
         lead ? data_shape(*lead) : Cell(),
         lead ? shape_cell(lead->weight) : Cell(),
         lead ? strides_of(*lead) : Cell(),
         lead ? shape_cell(lead->type) : Cell(),
         text_or_none(row.compiler),
         function == report.functions.end() ? Cell() : text_or_none(function->second.template_name),
         row.median_us,
         row.share,
         least(row.samples_us),
         most(row.samples_us),
         row.samples_us.empty() ? Cell() : Cell(percentile(row.samples_us, 0.9)),
         row.samples_us.empty() ? Cell() : Cell(percentile(row.samples_us, 0.99)),
         row.samples_us.size() < 2 ? Cell() : Cell(row.cv),
         integer(row.samples_us.size()),
         row.origins,
         ops_of(report, row.origins),
         row.made_for,
         text_or_none(row.reason),
         row.inputs,
         row.flops,
         row.bytes,
         row.result_bytes,
         row.live_bytes,
         text_or_none(roof.dtype),
         row.bytes > 0 ? Cell(roof.intensity) : Cell(),
         rate(row.flops, roof.gflops),
         rate(row.bytes, roof.gbytes_per_s),
         roof.bound.empty() ? Cell() : Cell(roof.share),
         text_or_none(roof.bound),
         roof.nominal,
         split ? Cell(row.stage_sum) : Cell(),
         split ? Cell(row.noise) : Cell(),
         split ? Cell(row.trusted) : Cell(),
         number_or_none(row.plus_minus_us),
         text_or_none(row.under_load),
         integer(static_cast<uint64_t>(row.calls_per_sample)),
         row.split_at ? integer(*row.split_at) : Cell(),
         text_or_none(row.simulated)});
  }
  return with_context(std::move(table), report);
}

ReportTable operators_table(const ProfileReport& report) {
  using enum CellKind;
  ReportTable table{
      "operators",
      {{"id", kInteger},        {"op", kText},           {"title", kText},     {"file", kText},
       {"line", kInteger},      {"column", kInteger},    {"source", kText},    {"type", kText},
       {"data_shape", kText},   {"weight_shape", kText}, {"strides", kText},   {"flops", kNumber},
       {"bytes", kNumber},      {"attrs", kText},        {"inputs", kIds},     {"nodes", kIds},
       {"kernels_us", kNumber}, {"us", kNumber},         {"us_by", kText},     {"inside_us", kNumber},
       {"unfused_us", kNumber}, {"fused_with", kIds},    {"not_fused", kText}, {"folded_into", kIds},
       {"retired_by", kText},   {"retired_why", kText}},
      {}};
  const std::vector<OperatorTime> times = operator_times(report);
  std::map<uint32_t, double> us_of_node;
  for (const KernelRow& row : report.kernels) us_of_node[row.node] = row.median_us;
  for (const OperatorRow& row : report.operators) {
    const OperatorTime& time = times[row.id];
    double kernels_us = 0;
    for (uint32_t node : row.nodes)
      if (const auto at = us_of_node.find(node); at != us_of_node.end()) kernels_us += at->second;
    table.rows.push_back({integer(row.id),
                          row.op,
                          text_or_none(operator_name(row)),
                          text_or_none(row.file),
                          row.line ? integer(row.line) : Cell(),
                          row.column ? integer(row.column) : Cell(),
                          text_or_none(row.source),
                          text_or_none(row.type),
                          data_shape(row),
                          shape_cell(row.weight),
                          strides_of(row),
                          row.flops,
                          row.bytes,
                          Cell(attrs_json(row).dump()),
                          row.inputs,
                          row.nodes,
                          time.has_kernel ? Cell(kernels_us) : Cell(),
                          time.has_kernel ? Cell(time.us) : Cell(),
                          time.has_kernel ? Cell(portion_name(time.by)) : Cell(),
                          number_or_none(row.inside_us),
                          number_or_none(row.unfused_us),
                          row.fused_with,
                          text_or_none(row.not_fused),
                          row.folded_into,
                          text_or_none(row.retired_by),
                          text_or_none(row.retired_why)});
  }
  return with_context(std::move(table), report);
}

ReportTable parts_table(const ProfileReport& report) {
  using enum CellKind;
  ReportTable table{"parts",
                    {{"node", kInteger},
                     {"title", kText},
                     {"kernel", kText},
                     {"part", kInteger},
                     {"ids", kIds},
                     {"ops", kText},
                     {"file", kText},
                     {"line", kInteger},
                     {"label", kText},
                     {"stage", kText},
                     {"share", kNumber},
                     {"us", kNumber},
                     {"method", kText},
                     {"rest", kFlag},
                     {"below_noise", kFlag},
                     {"trusted", kFlag},
                     {"plus_minus_us", kNumber}},
                    {}};
  for (const KernelRow& row : report.kernels) {
    for (size_t i = 0; i < row.inside.size(); ++i) {
      const InsideRow& part = row.inside[i];
      const OperatorRow* first = part.ids.empty() ? nullptr : &report.operators.at(part.ids[0]);
      table.rows.push_back({integer(row.node), row.title, row.name, integer(i), part.ids,
                            ops_of(report, part.ids), first ? text_or_none(first->file) : Cell(),
                            first && first->line ? integer(first->line) : Cell(),
                            part.label.empty() ? Cell("load, store, loop") : Cell(part.label),
                            text_or_none(part.stage), part.share, part.us, method_name(part.method),
                            part.rest, part.below_noise, row.trusted, number_or_none(part.plus_minus_us)});
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
