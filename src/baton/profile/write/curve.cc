#include "baton/profile/write/curve.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "baton/page/fill.h"
#include "baton/profile/report/curve.h"
#include "baton/profile/report/report_text.h"
#include "baton/profile/write/csv.h"
#include "baton/profile/write/program_table.h"
#include "baton/profile/write/table_format.h"
#include "baton/profile/write/tables.h"
#include "baton/support/require.h"
#include "baton/text/html.h"

namespace baton {

namespace {

constexpr int kCurveName = 30, kCurveNumber = 10;

/// So many of `count`, evenly spaced, the first and the last among them.
std::vector<size_t> spread(size_t count, size_t most) {
  std::vector<size_t> chosen;
  if (count <= most) {
    for (size_t i = 0; i < count; ++i) chosen.push_back(i);
  } else {
    for (size_t i = 0; i < most; ++i) chosen.push_back(i * (count - 1) / std::max<size_t>(1, most - 1));
  }
  return chosen;
}

/// Notes of several points differ in their numbers only.
std::string without_numbers(std::string text) {
  std::erase_if(text, [](char each) { return (each >= '0' && each <= '9') || each == '.'; });
  return text;
}

double longest(const CurveRow& row) { return row.us.empty() ? 0 : std::ranges::max(row.us); }

ReportTable curve_table(std::span<const ProfileReport> points) {
  ReportTable table{"curve",
                    {{"model", CellKind::kText},
                     {"point", CellKind::kText},
                     {"value", CellKind::kNumber},
                     {"kind", CellKind::kText},
                     {"operator", CellKind::kInteger},
                     {"name", CellKind::kText},
                     {"line", CellKind::kInteger},
                     {"us", CellKind::kNumber},
                     {"predicted", CellKind::kText}},
                    {}};
  for (const CurveRow& row : curve_rows(points)) {
    for (size_t i = 0; i < points.size(); ++i) {
      std::vector<Cell> cells(table.columns.size());
      cells[0] = points[i].model;
      cells[1] = points[i].point->name;
      cells[2] = points[i].point->value;
      cells[3] = std::string(kind_name(row.kind));
      if (row.id) cells[4] = int64_t{*row.id};
      cells[5] = row.name;
      if (row.line) cells[6] = int64_t{row.line};
      cells[7] = row.us[i];
      if (!points[i].predicted.empty()) cells[8] = points[i].predicted;
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

}  // namespace

const std::vector<FileKind>& curve_kinds() {
  static const std::vector<FileKind> kinds = {
      {".json", "the profiles at all points, to be read again (docs/design/0005)", {""}, true},
      {".html", "one page: the curve of each operator", {""}, true},
      {".csv", "a row for each operator at each point", {""}, true},
      {".txt", "the table of the terminal", {""}, true}};
  return kinds;
}

void write_curve(std::ostream& out, std::span<const ProfileReport> points, const TableOptions& options) {
  const int width = std::max(options.width, kCurveName + 4 * kCurveNumber);
  const std::vector<size_t> shown =
      spread(points.size(), static_cast<size_t>((width - kCurveName) / kCurveNumber));
  std::vector<CurveRow> rows = curve_rows(points);
  const auto behind =
      std::ranges::find_if(rows, [](const CurveRow& row) { return row.kind != CurveRow::Kind::kOperator; });
  std::stable_sort(rows.begin(), behind,
                   [](const CurveRow& a, const CurveRow& b) { return longest(a) > longest(b); });
  const auto operators = static_cast<size_t>(behind - rows.begin());
  const size_t top =
      options.all || options.top <= 0 ? operators : std::min(operators, static_cast<size_t>(options.top));
  const auto line = [&](const CurveRow& row) {
    std::string text = formatted("%-*s", kCurveName, clipped(row.name, kCurveName - 1).c_str());
    for (const size_t i : shown) text += formatted("%*s", kCurveNumber, us_text(row.us[i]).c_str());
    out << table_line(text);
  };
  std::string head = formatted("%-*s", kCurveName, "us of a run, at");
  for (const size_t i : shown)
    head += formatted("%*s", kCurveNumber, clipped(points[i].point->name, kCurveNumber - 1).c_str());
  out << '\n' << in_style(Style::kHead, options.colour, head) << '\n';
  CurveRow others{CurveRow::Kind::kOperator,
                  {},
                  std::to_string(operators - top) + " more (--top N, --all)",
                  0,
                  std::vector<double>(points.size())};
  for (size_t r = 0; r < rows.size(); ++r) {
    if (r >= top && r < operators) {
      for (size_t i = 0; i < points.size(); ++i) others.us[i] += rows[r].us[i];
      continue;
    }
    if (r == operators && top < operators) line(others);
    line(rows[r]);
  }
  if (shown.size() < points.size())
    out << wrapped(counted(points.size() - shown.size(), "point") +
                       " more: a wider terminal, --json or -o NAME.csv has them",
                   0, width);
  std::set<std::string> said;
  for (const ProfileReport& point : points)
    for (const std::string& note : point.notes)
      if (said.insert(without_numbers(note)).second)
        out << wrapped("note: at " + point.point->name + ": " + note, 0, width);
}

Json curve_json(std::span<const ProfileReport> points) {
  const ProfileReport& first = points.front();
  Json json{{"model", first.model},     {"target", first.target},   {"machine", first.machine},
            {"threads", first.threads}, {"version", first.version}, {"predicted", first.predicted}};
  json["points"] = Json::array();
  for (const ProfileReport& point : points)
    json["points"].push_back({{"name", point.point->name},
                              {"value", point.point->value},
                              {"inputs", inputs_text(point)},
                              {"sum_us", point.sum_us}});
  json["rows"] = Json::array();
  for (const CurveRow& row : curve_rows(points))
    json["rows"].push_back(
        {{"kind", kind_name(row.kind)}, {"name", row.name}, {"line", row.line}, {"us", row.us}});
  return json;
}

std::string curve_bytes(std::span<const ProfileReport> points, const WantedFile& file) {
  if (file.suffix == ".json") return reports_json({points.begin(), points.end()}, true);
  if (file.suffix == ".csv") return csv(curve_table(points));
  if (file.suffix == ".html")
    return filled_page(curve_page_template(), points.front().model + ": curves of a Baton profile",
                       curve_json(points));
  BATON_CHECK(file.suffix == ".txt", file.suffix);
  std::ostringstream out;
  write_heading(out, points.front(), {});
  TableOptions all;
  all.all = true;
  all.width = kCurveName + kCurveNumber * static_cast<int>(points.size());
  write_curve(out, points, all);
  return out.str();
}

}  // namespace baton
