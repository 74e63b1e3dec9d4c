#include "baton/codegen/schedule_table.h"

#include <cstdio>
#include <vector>

#include "baton/codegen/kernel/kernel.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/pass_traits.h"
#include "baton/support/error.h"

namespace baton {

namespace {

constexpr std::string_view kTitle = "tuned schedules 1: ";
constexpr const char* kSeparator = " | ";

std::vector<std::string> fields_of_line(const std::string& line) {
  std::vector<std::string> fields;
  size_t at = 0;
  for (size_t end; (end = line.find(kSeparator, at)) != std::string::npos; at = end + 3)
    fields.push_back(line.substr(at, end - at));
  fields.push_back(line.substr(at));
  return fields;
}

std::string microseconds(double us) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", us);
  return text;
}

/// A positive number; 0 for anything else.
double microseconds_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && value > 0 && value < 1e12 ? value : 0;
}

[[noreturn]] void refuse_line(int line, const std::string& what) {
  throw UsageError("a table of tuned schedules has in line " + std::to_string(line) + " " + what);
}

}  // namespace

std::string processor_family(const DeviceSheet& sheet) {
  const auto has = [&](const char* feature) {
    return (sheet.code_target + "-").find(std::string("-") + feature + "-") != std::string::npos;
  };
  if (has("avx512_zen4") || has("avx512_sapphirerapids")) return "avx512_bf16";
  if (has("avx512_skylake")) return "avx512";
  return has("avx2") && has("fma") ? "avx2" : "";
}

std::string scheduled_layer(const FunctionNode& function) {
  for (const KernelBlock& block : kernel_blocks(function)) {
    if (!block.call->op()->rules.get<AnchorRule>()) continue;
    std::string text = block.call->op()->name + "(";
    int index = 0;
    for (const Expr& arg : block.call->args()) {
      if (index > 0) text += ", ";
      text += "%p" + std::to_string(index++) + ": " + type_text(arg->checked_type());
    }
    text += ")";
    const Attrs& attrs = block.call->attrs();
    if (!attrs) return text;
    char before = ' ';
    for (const AttrField& field : attrs->schema().fields) {
      const std::string value = attr_text(attrs->get(field.name));
      if (field.default_value && attr_text(*field.default_value) == value) continue;
      text += std::string(before == ' ' ? " " : ", ") + field.name + "=" + value;
      before = ',';
    }
    return text;
  }
  return "";
}

std::string ScheduleTable::text() const {
  std::string all = std::string(kTitle) + family + "\n";
  for (const auto& [layer, tuned] : entries)
    all += layer + kSeparator + schedule_text(tuned.schedule) + kSeparator + microseconds(tuned.us) +
           kSeparator + microseconds(tuned.default_us) + kSeparator + tuned.second + kSeparator +
           microseconds(tuned.second_us) + "\n";
  return all;
}

ScheduleTable ScheduleTable::from_text(std::string_view text) {
  ScheduleTable table;
  int number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (++number == 1) {
      if (!line.starts_with(kTitle)) refuse_line(1, "no title such as `" + std::string(kTitle) + "avx2`");
      table.family = line.substr(kTitle.size());
      continue;
    }
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> fields = fields_of_line(line);
    if (fields.size() != 6) refuse_line(number, std::to_string(fields.size()) + " fields instead of 6");
    TunedSchedule tuned;
    const auto schedule = schedule_of_text(fields[1]);
    if (!schedule || schedule->params.empty())
      refuse_line(number, "`" + fields[1] + "`, which is no template with parameters");
    tuned.schedule = *schedule;
    tuned.us = microseconds_of(fields[2]), tuned.default_us = microseconds_of(fields[3]);
    tuned.second = fields[4], tuned.second_us = microseconds_of(fields[5]);
    if (tuned.us == 0 || tuned.default_us == 0 || tuned.second_us == 0)
      refuse_line(number, "a time that is no number of microseconds");
    if (!table.entries.emplace(fields[0], tuned).second)
      refuse_line(number, "a second entry for `" + fields[0] + "`");
  }
  if (number == 0) refuse_line(1, "nothing");
  return table;
}

const ScheduleTable& shipped_table(const std::string& family) {
  static const auto* const tables = [] {
    auto* all = new std::map<std::string, ScheduleTable>;
    for (int i = 0; i < kShippedTableCount; ++i) {
      ScheduleTable table = ScheduleTable::from_text(kShippedTables[i]);
      std::string name = table.family;
      all->emplace(std::move(name), std::move(table));
    }
    return all;
  }();
  static const ScheduleTable none;
  const auto found = tables->find(family);
  return found == tables->end() ? none : found->second;
}

}  // namespace baton
