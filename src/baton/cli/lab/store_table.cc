#include "baton/cli/lab/store_table.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "baton/profile/write/table_format.h"
#include "baton/support/json.h"

namespace baton::cli {
namespace {

CellKind kind_of(const StoreTable& table, size_t column) {
  bool integer = true, number = true, known = false;
  for (const std::vector<StoreCell>& row : table.rows) {
    const StoreCell& cell = row[column];
    if (std::holds_alternative<std::monostate>(cell)) continue;
    known = true;
    integer &= std::holds_alternative<int64_t>(cell);
    number &= !std::holds_alternative<std::string>(cell);
  }
  return !known    ? CellKind::kText
         : integer ? CellKind::kInteger
         : number  ? CellKind::kNumber
                   : CellKind::kText;
}

std::string digits(double value, const char* format = "%.6g") { return formatted(format, value); }

std::string text_of(const StoreCell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) return std::to_string(*number);
  if (const auto* real = std::get_if<double>(&cell)) return digits(*real);
  if (const auto* text = std::get_if<std::string>(&cell)) {
    std::string line = *text;
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
  }
  return "-";
}

Cell converted(const StoreCell& cell, CellKind kind) {
  if (std::holds_alternative<std::monostate>(cell)) return {};
  if (const auto* number = std::get_if<int64_t>(&cell)) {
    if (kind == CellKind::kNumber) return static_cast<double>(*number);
    if (kind == CellKind::kText) return std::to_string(*number);
    return *number;
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    if (kind == CellKind::kNumber) return *real;
    char text[40];
    return std::string(text, std::to_chars(text, text + sizeof text, *real).ptr);
  }
  return std::get<std::string>(cell);
}

size_t length(const std::string& text) {  // in characters
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// The columns of a row by name.
class Named {
 public:
  explicit Named(const StoreTable& table) {
    for (size_t i = 0; i < table.columns.size(); ++i) at_[table.columns[i]] = i;
  }
  const StoreCell& operator()(const std::vector<StoreCell>& row, const char* name) const {
    return row.at(at_.at(name));
  }
  double number(const std::vector<StoreCell>& row, const char* name) const {
    const StoreCell& cell = (*this)(row, name);
    const auto* real = std::get_if<double>(&cell);
    return real ? *real : 0;
  }

 private:
  std::map<std::string, size_t> at_;
};

}  // namespace

ReportTable report_table(const StoreTable& table, const std::string& name) {
  ReportTable report{name, {}, {}};
  for (size_t i = 0; i < table.columns.size(); ++i)
    report.columns.push_back({table.columns[i], kind_of(table, i)});
  report.rows.reserve(table.rows.size());
  for (const std::vector<StoreCell>& row : table.rows) {
    std::vector<Cell>& cells = report.rows.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) cells.push_back(converted(row[i], report.columns[i].kind));
  }
  return report;
}

std::string json_rows(const StoreTable& table) {
  Json list = Json::array();
  for (const std::vector<StoreCell>& row : table.rows) {
    Json& object = list.emplace_back(Json::object());
    for (size_t i = 0; i < row.size(); ++i)
      std::visit(
          [&](const auto& value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
              object[table.columns[i]] = nullptr;
            else
              object[table.columns[i]] = value;
          },
          row[i]);
  }
  return list.dump(-1, JsonUtf8::kReplace) + "\n";
}

void write_columns(std::ostream& out, const StoreTable& table, int width) {
  constexpr size_t kMostText = 60;
  std::vector<std::vector<std::string>> lines{table.columns};
  for (const std::vector<StoreCell>& row : table.rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const StoreCell& cell : row) line.push_back(clipped(text_of(cell), kMostText));
  }
  std::vector<size_t> widths(table.columns.size());
  for (const std::vector<std::string>& line : lines)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], length(line[i]));
  for (const std::vector<std::string>& line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string fill(widths[i] - length(line[i]), ' ');
      const bool right = kind_of(table, i) != CellKind::kText;
      text += (i ? "  " : "") + (right ? fill + line[i] : line[i] + fill);
    }
    out << table_line(clipped(text, static_cast<size_t>(width)));
  }
}

std::vector<std::string> shown_columns() {
  return {"brief", "op_source", "backend", "template", "threads",   "cache",     "median_us",
          "cv",    "flops",     "model",   "method",   "simulated", "unreliable"};
}

void write_measurements(std::ostream& out, const StoreTable& rows, int width) {
  const Named named(rows);
  constexpr size_t kSource = 26;  // columns for the operators of the model
  StoreTable shown{
      {"what", "of", "backend", "template", "threads", "cache", "us", "cv", "GFLOPS", "model", "note"}, {}};
  for (const std::vector<StoreCell>& row : rows.rows) {
    const double us = named.number(row, "median_us"), flops = named.number(row, "flops");
    const auto text = [&](const char* name) {
      const StoreCell& cell = named(row, name);
      return std::holds_alternative<std::monostate>(cell) ? std::string() : text_of(cell);
    };
    std::string note = text("method");
    if (!text("simulated").empty()) note += (note.empty() ? "" : ", ") + std::string("simulated");
    if (!text("unreliable").empty()) note += (note.empty() ? "" : ", ") + std::string("unreliable");
    const int room = width - 78 - static_cast<int>(kSource);
    shown.rows.push_back(
        {clipped(text("brief"), static_cast<size_t>(std::max(20, room))), clipped(text("op_source"), kSource),
         text("backend"), text("template"), named(row, "threads"), text("cache"), digits(us, "%.2f"),
         digits(named.number(row, "cv") * 100, "%.1f %%"),
         us > 0 && flops > 0 ? digits(flops / us / 1e3, "%.1f") : std::string(), text("model"), note});
  }
  write_columns(out, shown, width);
}

std::string places_note(const std::vector<StorePlace>& places) {
  if (places.size() < 2) return "";
  std::string text = "These rows are of " + std::to_string(places.size()) +
                     " devices or machines; times of one are not times of another:\n";
  for (const StorePlace& place : places)
    text += "  " + std::to_string(place.rows) + (place.rows == 1 ? " row" : " rows") + " of " +
            (place.device.empty() ? "an unnamed device" : place.device) + " in " + place.machine +
            " (--machine " + place.machine + " --sheet " + place.sheet + ")\n";
  return text;
}

}  // namespace baton::cli
