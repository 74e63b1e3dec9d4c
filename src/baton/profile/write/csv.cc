#include "baton/profile/write/csv.h"

#include <charconv>
#include <cmath>

namespace baton {
namespace {

template <class Number>
std::string digits(Number value) {
  char text[40];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

struct Text {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return digits(value); }
  std::string operator()(double value) const { return std::isfinite(value) ? digits(value) : ""; }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const std::vector<uint32_t>& ids) const {
    std::string text;
    for (uint32_t id : ids) text += (text.empty() ? "" : " ") + digits(id);
    return text;
  }
};

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace

std::string csv(const ReportTable& table) {
  std::string out;
  for (size_t i = 0; i < table.columns.size(); ++i) out += (i ? "," : "") + quoted(table.columns[i].name);
  out += "\r\n";
  for (const std::vector<Cell>& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) out += (i ? "," : "") + quoted(std::visit(Text(), row[i]));
    out += "\r\n";
  }
  return out;
}

}  // namespace baton
